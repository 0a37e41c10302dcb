import { forward, WEBHOOK_LIMIT_BYTES } from '@keelson/contracts/agent'
import { ApiError, readBody, type RawAnswer, type RawContext, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { deliveryAcceptor } from '../deliveries/accept-delivery.ts'
import { acceptedEvents } from './accepted-events.ts'
import { passedHeaders, receivedHeaders } from './forwarded-headers.ts'
import { checkQuery, encodeSegments, readTarget } from './forward-path.ts'
import { FORWARD_LIMITS, forwardRequest } from './forward-request.ts'
import { inFlightBytes } from './in-flight-bytes.ts'
import { isForm, textAt } from './payload.ts'
import { presentedProof } from './presented.ts'
import { isDurable, receiver } from './receive.ts'
import type { Verified } from './verify-request.ts'
import { webhookMetrics, type WebhookOutcome } from './webhook-metrics.ts'

type ForwardDeps = Pick<Deps, 'db' | 'keyring' | 'log' | 'network' | 'queue'> &
  Partial<Pick<Deps, 'forwardLimits' | 'tracer'>>

const MAX_HELD_BYTES = 268_435_456
const UNPROVED_BYTES = 4096
const MAX_CHALLENGE = 256

const refuse = (): never => {
  throw new ApiError('invalid_signature')
}

/** Slack's look whether the certificate is valid comes unsigned; nothing of it is passed on. */
const answerUnproved = async (c: RawContext): Promise<RawAnswer> => {
  if (c.req.method !== 'POST' || !isForm(receivedHeaders(c)['content-type'])) return refuse()
  const body = await readBody(c.req.raw, c.env, UNPROVED_BYTES)
  return new URLSearchParams(body.toString()).get('ssl_check') === '1' ? { status: 200 } : refuse()
}

/** What Slack asks of us rather than of the agent; `null` for everything else. */
const answerSlack = ({ key, payload }: Verified): RawAnswer | null => {
  if (key.source !== 'slack' || payload === null) return null
  if (textAt(payload, 'ssl_check') === '1') return { status: 200 }
  if (textAt(payload, 'type') !== 'url_verification') return null
  const challenge = textAt(payload, 'challenge') ?? ''
  if (challenge === '' || challenge.length > MAX_CHALLENGE) throw new ApiError('malformed_request')
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: challenge }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const assertUncompressed = (c: RawContext): void => {
  const encoding = receivedHeaders(c)['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new ApiError('malformed_request', 'The body must not be compressed')
}

const INGRESS_PATH = '/agents/forward/name/:agent_name/*'

/** The ingress of webhooks: verified first, then handed to the agent at once or kept for it. */
export const forwardRoutes = (service: Service, deps: ForwardDeps) => {
  const { keyring, log, network, tracer = null } = deps
  const metrics = webhookMetrics(service.metrics)
  const receive = receiver(keyring, service.bodyLimit(forward.forwardPost.operationId, WEBHOOK_LIMIT_BYTES))
  const accept = deliveryAcceptor({ ...deps, onDuplicate: metrics.duplicate })
  const limits = deps.forwardLimits ?? FORWARD_LIMITS
  const openHold = inFlightBytes(MAX_HELD_BYTES)
  const accepted = acceptedEvents()

  const handle = async (c: RawContext, outcome: WebhookOutcome): Promise<RawAnswer> => {
    const headers = receivedHeaders(c)
    const target = readTarget(c.env.path)
    const query = checkQuery(c.env.query)
    const presented = presentedProof(headers)
    if (presented === null) return answerUnproved(c)
    outcome.source = presented.scheme
    assertUncompressed(c)
    using held = openHold()
    const { verified, body } = await receive(c, target, presented, held)
    const { key, payload } = verified
    const path = encodeSegments(target.segments)
    const answer = answerSlack(verified)
    if (answer) {
      outcome.result = 'answered'
      return answer
    }
    if (isDurable(c, key) && Buffer.isBuffer(body)) {
      outcome.result = 'stored'
      const { env } = c
      const passed = passedHeaders(headers, key.source)
      const event = { key, agent_name: target.agent_name, path, query, body, payload, headers, passed }
      const store = () => accept({ ...event, traceparent: env.traceparent })
      return await env.crowd.during('acceptDelivery', key.account_id, store)
    }
    const event = accepted.idOf({ key, payload, headers, method: c.req.method })
    if (accepted.has(event)) {
      metrics.duplicate(key.source)
      outcome.result = 'answered'
      return { status: 200, headers: { 'x-keelson-duplicate': 'true' } }
    }
    const forwarded = await forwardRequest({ network, limits, log, tracer }, c, { key, path, query, body })
    if (isSuccess(forwarded.status)) accepted.add(event)
    return forwarded
  }

  const counted = (c: RawContext) => metrics.counting((outcome) => handle(c, outcome))
  service.raw('get', INGRESS_PATH, counted, { operationId: 'forwardGet' })
  service.raw('post', INGRESS_PATH, counted, { operationId: 'forwardPost' })
}
