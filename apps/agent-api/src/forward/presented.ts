import { ApiError } from '@keelson/service-kit'
import type { ReceivedHeaders } from './forwarded-headers.ts'
import type { SlackSignature } from './verify-slack.ts'
import type { WebhookSignature } from './verify-standard-webhook.ts'

/** What a request proves itself with. */
export type Presented =
  | { scheme: 'github'; signature: string }
  | ({ scheme: 'slack' } & SlackSignature)
  | ({ scheme: 'standard_webhooks' } & WebhookSignature)
  | { scheme: 'key'; key: string }

const PROOFS = ['x-hub-signature-256', 'x-slack-signature', 'webhook-signature', 'x-agent-api-key', 'authorization']

const AGENT_KEY = /^agentkey +([!-~]+)$/i

/**
 * The one proof a request presents; `null` when it presents none that is known.
 *
 * @throws ApiError `malformed_request` for several at once
 */
export const presentedProof = (headers: ReceivedHeaders): Presented | null => {
  const [name, ...others] = PROOFS.filter((proof) => headers[proof] !== undefined)
  if (name === undefined) return null
  if (others.length > 0) throw new ApiError('malformed_request', 'The request proves itself in several ways at once')
  const value = headers[name]!
  const of = (header: string) => headers[header] ?? ''
  if (name === 'x-hub-signature-256') return { scheme: 'github', signature: value }
  if (name === 'x-slack-signature') {
    return { scheme: 'slack', signature: value, timestamp: of('x-slack-request-timestamp') }
  }
  if (name === 'webhook-signature') {
    const [id, timestamp] = [of('webhook-id'), of('webhook-timestamp')]
    return { scheme: 'standard_webhooks', id, timestamp, signature: value }
  }
  const key = name === 'authorization' ? AGENT_KEY.exec(value)?.[1] : value
  return key === undefined ? null : { scheme: 'key', key }
}
