import { eventId, type EventFacts } from './event-id.ts'
import type { WebhookKey } from './keyring.ts'

/** For so long at least, GitHub offers to send a delivery again. */
const KEPT_MS = 3 * 86_400_000
/** So many are remembered at least, unless they are older. */
const LEAST = 25_000

/** The signed events that agents have accepted through this process: one that is sent again is not forwarded again. */
export type AcceptedEvents = {
  /** `null` for requests that are no events: calls with an agent key, GET, events without an id. */
  idOf: (event: EventFacts & { key: WebhookKey; method: string }) => string | null
  has: (id: string | null) => boolean
  add: (id: string | null) => void
}

/** Two generations of ids, of which the older is forgotten at once when the younger is full or old enough. */
export const acceptedEvents = (): AcceptedEvents => {
  let older = new Set<string>()
  let younger = new Set<string>()
  let since = Date.now()
  return {
    idOf: ({ method, ...event }) => {
      const id = method === 'POST' && event.key.verification !== 'key' ? eventId(event) : null
      return id === null ? null : `${event.key.key_id} ${id}`
    },
    has: (id) => id !== null && (younger.has(id) || older.has(id)),
    add: (id) => {
      if (id === null) return
      if (younger.size >= LEAST || Date.now() - since > KEPT_MS) {
        older = younger
        younger = new Set()
        since = Date.now()
      }
      younger.add(id)
    },
  }
}
