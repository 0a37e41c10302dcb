import type { OperationName } from './operations.ts'

/** One request to a vendor route, and what became of it. */
export type JournalEntry = {
  seq: number
  /** Vendor milliseconds since the start. */
  at_ms: number
  at: string
  operation: OperationName
  path: string
  owner: string | null
  replica: number
  /** The endpoint's or bundle's name, where the request tells it. */
  endpoint: string | null
  /** The metadata stamp the request carries. */
  generation: string | null
  body: unknown
  /** The id of the fault that hit it. */
  fault: string | null
  /** The status the server came to; `null` when the request never reached it. */
  outcome: number | null
  /** What went over the wire: a status, `reset` or `hang`; `null` while it is under way. */
  sent: number | 'reset' | 'hang' | null
  /** Whether it changed something at the vendor. */
  committed: boolean
  error: string | null
}

export type JournalFilter = { operation?: string; endpoint?: string; since?: number; limit?: number }

export type Journal = {
  /** Keeps the entry and gives it the next number. */
  add: (entry: Omit<JournalEntry, 'seq'>) => JournalEntry
  /** @param filter.since entries with a higher `seq` only */
  entries: (filter?: JournalFilter) => JournalEntry[]
  clear: () => void
}

/** @param limit the oldest entries beyond it are forgotten */
export const createJournal = (limit: number): Journal => {
  let entries: JournalEntry[] = []
  let seq = 0
  return {
    add: (entry) => {
      const kept = { seq: (seq += 1), ...entry }
      entries.push(kept)
      if (entries.length > 2 * limit) entries = entries.slice(-limit)
      return kept
    },
    entries: ({ operation, endpoint, since = 0, limit: most = limit } = {}) =>
      entries
        .slice(-limit)
        .filter((entry) => entry.seq > since)
        .filter((entry) => operation === undefined || entry.operation === operation)
        .filter((entry) => endpoint === undefined || entry.endpoint === endpoint)
        .slice(0, most),
    clear: () => {
      entries = []
      seq = 0
    },
  }
}
