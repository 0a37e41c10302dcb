import { WEBHOOK_LIMIT_BYTES } from '@keelson/contracts/agent'
import { ApiError, readBody, type RawContext, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { acceptDelivery } from '../deliveries/accept-delivery.ts'
import { checkQuery, encodeSegments, readTarget } from './forward-path.ts'
import { FORWARD_LIMITS, forwardRequest } from './forward-request.ts'
import { inFlightBytes } from './in-flight-bytes.ts'
import { isForm, textAt } from './payload.ts'
import { presentedProof } from './presented.ts'
import { verifyRequest, type Verified } from './verify-request.ts'

type ForwardDeps = Pick<Deps, 'db' | 'keyring' | 'network' | 'queue'> & Partial<Pick<Deps, 'forwardLimits'>>

const MAX_HELD_BYTES = 268_435_456
const UNPROVED_BYTES = 4096
const MAX_CHALLENGE = 256

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

const bytesToHold = (c: RawContext): number =>
  c.req.method === 'POST' ? Number(c.req.header('content-length') ?? WEBHOOK_LIMIT_BYTES) : 0

const readWebhook = async (c: RawContext): Promise<Buffer> => {
  const encoding = c.req.header('content-encoding') ?? 'identity'
  if (encoding !== 'identity') throw new ApiError('malformed_request', 'The body must not be compressed')
  return readBody(c.req.raw, c.env, WEBHOOK_LIMIT_BYTES)
}

/** The ingress of webhooks: verified first, then handed to the agent at once or kept for it. */
export const forwardRoutes = (service: Service, deps: ForwardDeps) => {
  const { keyring } = deps
  const limits = deps.forwardLimits ?? FORWARD_LIMITS
  const inFlight = inFlightBytes(MAX_HELD_BYTES)

  const handle = async (c: RawContext): Promise<Response> => {
    const { agent_name, segments } = readTarget(c.env.path)
    const query = checkQuery(c.env.query)
    const presented = presentedProof(c.req.raw.headers)
    if (presented === null) return answerUnproved(c)
    using _held = inFlight.hold(Math.min(bytesToHold(c), WEBHOOK_LIMIT_BYTES))
    const body = await readWebhook(c)
    const keys = await keyring.find(agent_name)
    const contentType = c.req.header('content-type') ?? null
    const nowSeconds = Math.floor(Date.now() / 1000)
    const verified = verifyRequest({ keys, presented, segments, body, contentType, nowSeconds }) ?? refuse()
    const { key, payload } = verified
    const path = encodeSegments(segments)
    // Slash commands and clicks wait for what the agent says, so they are never kept for later.
    const isDurable =
      key.delivery === 'durable' && c.req.method === 'POST' && !(key.source === 'slack' && isForm(contentType))
    return await (answerSlack(verified) ??
      (isDurable
        ? acceptDelivery(deps, { key, agent_name, path, query, body, payload, headers: c.req.raw.headers })
        : forwardRequest({ network: deps.network, limits }, c, { key, path, query, body })))
  }

  for (const [method, operationId] of [
    ['get', 'forwardGet'],
    ['post', 'forwardPost'],
  ] as const) {
    service.raw(method, '/agents/forward/name/:agent_name/*', handle, { operationId })
  }
}
