import { LRUCache } from 'lru-cache'
import { eventId, type EventFacts } from './event-id.ts'
import type { WebhookKey } from './keyring.ts'

/** For so long GitHub offers to send a delivery again. */
const KEPT_MS = 3 * 86_400_000
const MOST = 50_000
/** How exactly that time is kept: the clock costs more than the rest of a look-up. */
const CLOCK_MS = 60_000

/** The signed events that agents have accepted through this process: one that is sent again is not forwarded again. */
export type AcceptedEvents = {
  /** `null` for requests that are no events: calls with an agent key, GET, events without an id. */
  idOf: (event: EventFacts & { key: WebhookKey; method: string }) => string | null
  has: (id: string | null) => boolean
  add: (id: string | null) => void
}

export const acceptedEvents = (): AcceptedEvents => {
  const ids = new LRUCache<string, true>({ max: MOST, ttl: KEPT_MS, ttlResolution: CLOCK_MS })
  return {
    idOf: ({ method, ...event }) => {
      const id = method === 'POST' && event.key.verification !== 'key' ? eventId(event) : null
      return id === null ? null : `${event.key.key_id} ${id}`
    },
    has: (id) => id !== null && ids.has(id),
    add: (id) => {
      if (id !== null) ids.set(id, true)
    },
  }
}
