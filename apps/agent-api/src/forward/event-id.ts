import { hash } from 'node:crypto'
import type { WebhookKey } from './keyring.ts'
import type { ReceivedHeaders } from './forwarded-headers.ts'
import { textAt, type Payload } from './payload.ts'

const MAX_ID_BYTES = 200

export type EventFacts = { key: Pick<WebhookKey, 'source'>; headers: ReceivedHeaders; payload: Payload | null }

/** The source's own id of an event: two requests with the same one are the same event. */
export const eventId = ({ key, headers, payload }: EventFacts): string | null => {
  const id = {
    github: headers['x-github-delivery'],
    slack: payload && textAt(payload, 'event_id'),
    external: headers['webhook-id'] ?? headers['idempotency-key'],
  }[key.source]
  if (!id) return null
  const isPlain = Buffer.byteLength(id) <= MAX_ID_BYTES && !id.includes('\0') && id.isWellFormed()
  return isPlain ? id : hash('sha256', id)
}
