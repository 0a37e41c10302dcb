import { ApiError, readBody, streamBody, type RawContext } from '@keelson/service-kit'
import type { ForwardTarget } from './forward-path.ts'
import { receivedHeaders } from './forwarded-headers.ts'
import type { HeldBytes } from './in-flight-bytes.ts'
import type { Keyring } from './keyring.ts'
import { isForm } from './payload.ts'
import type { Presented } from './presented.ts'
import { verifyRequest, type Verified } from './verify-request.ts'

const NO_BODY = Buffer.alloc(0)

const refuse = (): never => {
  throw new ApiError('invalid_signature')
}

/** Slash commands and clicks wait for what the agent says, so they are never kept for later. */
export const isDurable = (c: RawContext, { source, delivery }: Verified['key']): boolean =>
  delivery === 'durable' &&
  c.req.method === 'POST' &&
  !(source === 'slack' && isForm(receivedHeaders(c)['content-type']))

/** Who does not say how long the body is sends it while it is made, and the agent gets it while it comes. */
const isStream = (c: RawContext): boolean =>
  c.req.method === 'POST' && receivedHeaders(c)['transfer-encoding'] !== undefined

/**
 * Verifies requests and takes their bodies, of at most `maxBytes`.
 *
 * @throws ApiError `invalid_signature`, `malformed_request`, `payload_too_large`, `unavailable`
 */
export const receiver = (keyring: Pick<Keyring, 'find'>, maxBytes: number) => {
  const readWebhook = (c: RawContext, held: HeldBytes): Promise<Buffer> =>
    readBody(c.req.raw, c.env, maxBytes, held.add)

  const prove = async (c: RawContext, { agent_name, segments }: ForwardTarget, presented: Presented, body: Buffer) => {
    const keys = await keyring.find(agent_name)
    const contentType = receivedHeaders(c)['content-type']
    const nowSeconds = Math.floor(Date.now() / 1000)
    return verifyRequest({ keys, presented, segments, body, contentType, nowSeconds }) ?? refuse()
  }

  /** A signature is over the whole body, so that is read first; a key that is shown proves a request without it. */
  return async (c: RawContext, target: ForwardTarget, presented: Presented, held: HeldBytes) => {
    if (presented.scheme !== 'key') {
      const body = await readWebhook(c, held)
      return { verified: await prove(c, target, presented, body), body }
    }
    const verified = await prove(c, target, presented, NO_BODY)
    if (isStream(c) && !isDurable(c, verified.key)) {
      return { verified, body: streamBody(c.req.raw, c.env, maxBytes) }
    }
    return { verified, body: await readWebhook(c, held) }
  }
}
