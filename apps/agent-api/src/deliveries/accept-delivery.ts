import { hash } from 'node:crypto'
import type { Database } from '@keelson/database'
import type { Queue } from '@keelson/queue'
import { uuidv7 } from '@keelson/service-kit'
import { passedHeaders } from '../forward/forwarded-headers.ts'
import type { WebhookKey } from '../forward/keyring.ts'
import { textAt, type Payload } from '../forward/payload.ts'

export type VerifiedEvent = {
  key: WebhookKey
  agent_name: string
  path: string
  query: string
  headers: Headers
  body: Buffer
  payload: Payload | null
}

const MAX_ID_BYTES = 200

/** The source's own id of an event: two requests with the same one are the same event. */
const sourceDeliveryId = ({ key, headers, payload }: VerifiedEvent): string | null => {
  const id = {
    github: headers.get('x-github-delivery'),
    slack: payload && textAt(payload, 'event_id'),
    external: headers.get('webhook-id') ?? headers.get('idempotency-key'),
  }[key.source]
  if (!id) return null
  return Buffer.byteLength(id) <= MAX_ID_BYTES && !id.includes('\0') ? id : hash('sha256', id)
}

/**
 * Commits a verified event and answers 202: from then on it is delivered until the agent accepts it. An event that is
 * known already is not kept twice; when it failed, or still waits, it is tried again now.
 */
export const acceptDelivery = async (
  { db: { sql }, queue }: { db: Database; queue: Pick<Queue, 'ring'> },
  event: VerifiedEvent,
): Promise<Response> => {
  const { key, agent_name, path, query, body } = event
  const { account_id, agent_id, key_id, source } = key
  const source_delivery_id = sourceDeliveryId(event)
  const headers = JSON.stringify(passedHeaders(event.headers, source))
  const status = key.is_disabled ? 'dead' : 'pending'
  const error = key.is_disabled ? 'deliveries of this key are off' : null
  const [written] = await sql<{ id: string }[]>`
    insert into agent.webhook_deliveries as known (account_id, id, agent_id, agent_name, key_id, source,
      source_delivery_id, path, query, headers, body, status, last_error, next_attempt_at)
    values (${account_id}, ${uuidv7()}, ${agent_id}, ${agent_name}, ${key_id}, ${source}, ${source_delivery_id}, ${path},
      ${query}, ${headers}, ${body}, ${status}, ${error}, case when ${status} = 'pending' then now() end)
    on conflict on constraint webhook_deliveries_source_unique do update
      set status = excluded.status, failures = 0, next_attempt_at = excluded.next_attempt_at
      where known.status <> 'delivered' and (known.claimed_until is null or known.claimed_until < now())
    returning id`
  if (written) void queue.ring('deliver_webhook', { delivery_id: written.id, account_id })
  return new Response(null, { status: 202, headers: written ? { 'x-keelson-delivery-id': written.id } : {} })
}
