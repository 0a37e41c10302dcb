import { randomHex, type RawContext } from '@keelson/service-kit'
import type { WebhookKey } from './keyring.ts'
import { signStandardWebhook } from './verify-standard-webhook.ts'

export type HeaderFields = Record<string, string>
/** By names in lower case. */
export type ReceivedHeaders = Readonly<Record<string, string | undefined>>

/** What is passed on from any sender. Everything else stays here: credentials, cookies, hop-by-hop headers. */
const PASSED: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'user-agent',
])

const PREFIXES = { github: 'x-github-', slack: 'x-slack-', external: null } as const

/** The headers of a request as Node read them: going through all of a Headers object costs more than to verify one. */
export const receivedHeaders = ({ req, env }: RawContext): ReceivedHeaders =>
  (env.incoming?.headers ?? Object.fromEntries(req.raw.headers)) as ReceivedHeaders

/** Of the sender's headers, those that the agent gets to see. */
export const passedHeaders = (received: ReceivedHeaders, source: WebhookKey['source']): HeaderFields => {
  const dropped = new Set((received.connection ?? '').toLowerCase().split(/\s*,\s*/))
  const prefix = PREFIXES[source]
  const passed: HeaderFields = {}
  for (const [name, value] of Object.entries(received)) {
    const isSources = prefix !== null && name.startsWith(prefix) && name !== 'x-slack-signature'
    if ((isSources || PASSED.has(name)) && !dropped.has(name) && typeof value === 'string') passed[name] = value
  }
  return passed
}

export type Hop = {
  key: Pick<WebhookKey, 'account_id' | 'agent_id' | 'key_id' | 'source' | 'signingSecret'>
  /** The id of the event for the agent: the same at every attempt. */
  id: string
  attempt: number
  /** `null` for one that streams: the signature then says who calls, not what. */
  body: Buffer | null
  requestId: string
  traceparent: string | null
  nowSeconds: number
}

const NO_BODY = Buffer.alloc(0)

/** The trace that the sender began, or a new one, with a span of our own. */
const childTrace = (traceparent: string | null): string => {
  const [, traceId = randomHex(16), , flags = '01'] = traceparent?.split('-') ?? []
  return `00-${traceId}-${randomHex(8)}-${flags}`
}

/** Who is calling, signed so that the agent can tell that it is us. */
export const hopHeaders = ({ key, id, attempt, body, requestId, traceparent, nowSeconds }: Hop): HeaderFields => {
  const message = { id, body: body ?? NO_BODY, nowSeconds }
  const { timestamp, signature } = signStandardWebhook(key.signingSecret, message)
  return {
    'accept-encoding': 'identity',
    traceparent: childTrace(traceparent),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'x-keelson-account-id': key.account_id,
    'x-keelson-agent-id': key.agent_id,
    'x-keelson-attempt': String(attempt),
    'x-keelson-key-id': key.key_id,
    'x-keelson-source': key.source,
    'x-request-id': requestId,
    ...(body === null && { 'x-keelson-streamed': 'true' }),
  }
}

/** What is passed back of the agent's answer: no cookies, no redirects, nothing about the connection. */
const ANSWERED = [
  'cache-control',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'retry-after',
]
const ANSWERED_TO = { github: [], slack: ['x-slack-no-retry'], external: [] } as const

export const answeredHeaders = (
  headers: Record<string, string | string[] | undefined>,
  source: WebhookKey['source'],
): HeaderFields => {
  // Whatever an agent answers, a browser must not run it on our address.
  const answered: HeaderFields = { 'content-security-policy': 'sandbox' }
  for (const name of [...ANSWERED, ...ANSWERED_TO[source]]) {
    const value = headers[name]
    if (typeof value === 'string') answered[name] = value
  }
  return answered
}
