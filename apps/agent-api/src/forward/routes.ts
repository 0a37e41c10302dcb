import { WEBHOOK_LIMIT_BYTES } from '@keelson/contracts/agent'
import { ApiError, readBody, streamBody, type RawContext, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { deliveryAcceptor } from '../deliveries/accept-delivery.ts'
import { checkQuery, encodeSegments, readTarget, type ForwardTarget } from './forward-path.ts'
import { FORWARD_LIMITS, forwardRequest } from './forward-request.ts'
import { inFlightBytes, type HeldBytes } from './in-flight-bytes.ts'
import { isForm, textAt } from './payload.ts'
import { presentedProof, type Presented } from './presented.ts'
import { verifyRequest, type Verified } from './verify-request.ts'

type ForwardDeps = Pick<Deps, 'db' | 'keyring' | 'log' | 'network' | 'queue'> & Partial<Pick<Deps, 'forwardLimits'>>

const MAX_HELD_BYTES = 268_435_456
const UNPROVED_BYTES = 4096
const MAX_CHALLENGE = 256
const NO_BODY = Buffer.alloc(0)

const refuse = (): never => {
  throw new ApiError('invalid_signature')
}

/** Slack's look whether the certificate is valid comes unsigned; nothing of it is passed on. */
const answerUnproved = async (c: RawContext): Promise<Response> => {
  if (c.req.method !== 'POST' || !isForm(c.req.header('content-type') ?? null)) return refuse()
  const body = await readBody(c.req.raw, c.env, UNPROVED_BYTES)
  return new URLSearchParams(body.toString()).get('ssl_check') === '1' ? new Response(null, { status: 200 }) : refuse()
}

/** What Slack asks of us rather than of the agent; `null` for everything else. */
const answerSlack = ({ key, payload }: Verified): Response | null => {
  if (key.source !== 'slack' || payload === null) return null
  if (textAt(payload, 'ssl_check') === '1') return new Response(null, { status: 200 })
  if (textAt(payload, 'type') !== 'url_verification') return null
  const challenge = textAt(payload, 'challenge') ?? ''
  if (challenge === '' || challenge.length > MAX_CHALLENGE) throw new ApiError('malformed_request')
  return new Response(challenge, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
}

const assertUncompressed = (c: RawContext): void => {
  const encoding = c.req.header('content-encoding') ?? 'identity'
  if (encoding !== 'identity') throw new ApiError('malformed_request', 'The body must not be compressed')
}

const readWebhook = (c: RawContext, held: HeldBytes): Promise<Buffer> =>
  readBody(c.req.raw, c.env, WEBHOOK_LIMIT_BYTES, held.add)

/** Slash commands and clicks wait for what the agent says, so they are never kept for later. */
const isDurable = (c: RawContext, { source, delivery }: Verified['key']): boolean =>
  delivery === 'durable' &&
  c.req.method === 'POST' &&
  !(source === 'slack' && isForm(c.req.header('content-type') ?? null))

/** Who does not say how long the body is sends it while it is made, and the agent gets it while it comes. */
const isStream = (c: RawContext): boolean => c.req.method === 'POST' && c.req.header('transfer-encoding') !== undefined

/** The ingress of webhooks: verified first, then handed to the agent at once or kept for it. */
export const forwardRoutes = (service: Service, deps: ForwardDeps) => {
  const { keyring, log, network } = deps
  const accept = deliveryAcceptor(deps)
  const limits = deps.forwardLimits ?? FORWARD_LIMITS
  const openHold = inFlightBytes(MAX_HELD_BYTES)

  const prove = async (c: RawContext, { agent_name, segments }: ForwardTarget, presented: Presented, body: Buffer) => {
    const keys = await keyring.find(agent_name)
    const contentType = c.req.header('content-type') ?? null
    const nowSeconds = Math.floor(Date.now() / 1000)
    return verifyRequest({ keys, presented, segments, body, contentType, nowSeconds }) ?? refuse()
  }

  /** A signature is over the whole body, so that is read first; a key that is shown proves a request without it. */
  const receive = async (c: RawContext, target: ForwardTarget, presented: Presented, held: HeldBytes) => {
    if (presented.scheme !== 'key') {
      const body = await readWebhook(c, held)
      return { verified: await prove(c, target, presented, body), body }
    }
    const verified = await prove(c, target, presented, NO_BODY)
    if (isStream(c) && !isDurable(c, verified.key)) {
      return { verified, body: streamBody(c.req.raw, c.env, WEBHOOK_LIMIT_BYTES) }
    }
    return { verified, body: await readWebhook(c, held) }
  }

  const handle = async (c: RawContext): Promise<Response> => {
    const target = readTarget(c.env.path)
    const query = checkQuery(c.env.query)
    const presented = presentedProof(c.req.raw.headers)
    if (presented === null) return answerUnproved(c)
    assertUncompressed(c)
    using held = openHold()
    const { verified, body } = await receive(c, target, presented, held)
    const { key, payload } = verified
    const path = encodeSegments(target.segments)
    const answer = answerSlack(verified)
    if (answer) return answer
    if (isDurable(c, key) && Buffer.isBuffer(body)) {
      return await accept({
        key,
        agent_name: target.agent_name,
        path,
        query,
        body,
        payload,
        headers: c.req.raw.headers,
      })
    }
    return await forwardRequest({ network, limits, log }, c, { key, path, query, body })
  }

  for (const [method, operationId] of [
    ['get', 'forwardGet'],
    ['post', 'forwardPost'],
  ] as const) {
    service.raw(method, '/agents/forward/name/:agent_name/*', handle, { operationId })
  }
}
