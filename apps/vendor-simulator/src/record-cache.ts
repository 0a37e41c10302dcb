import type { Clock } from './clock.ts'
import type { Settings } from './settings.ts'

const ENTRIES_PER_REPLICA = 512

type Entry = { value: unknown; untilMs: number }

/** What each server process remembers of the records it has read. Nothing tells it when another one writes. */
export type RecordCache = {
  /** The remembered value, or what `load` finds now; an absent record (`null`) is never remembered. */
  read: <T>(replica: number, key: string, load: () => T) => T
  write: (replica: number, key: string, value: unknown) => void
  drop: (replica: number, key: string) => void
  clear: () => void
}

export const createRecordCache = (clock: Clock, settings: () => Settings['cache']): RecordCache => {
  const replicas = new Map<number, Map<string, Entry>>()
  const entriesOf = (replica: number) => {
    const entries = replicas.get(replica) ?? new Map<string, Entry>()
    replicas.set(replica, entries)
    return entries
  }
  const write = (replica: number, key: string, value: unknown) => {
    const { enabled, ttl_ms } = settings()
    if (!enabled) return
    const entries = entriesOf(replica)
    entries.delete(key)
    entries.set(key, { value, untilMs: clock.now() + ttl_ms })
    const oldest = entries.keys().next()
    if (entries.size > ENTRIES_PER_REPLICA && !oldest.done) entries.delete(oldest.value)
  }
  return {
    read: <T>(replica: number, key: string, load: () => T): T => {
      const entry = settings().enabled ? entriesOf(replica).get(key) : undefined
      if (entry && entry.untilMs > clock.now()) return entry.value as T
      const value = load()
      if (value !== null) write(replica, key, value)
      return value
    },
    write,
    drop: (replica, key) => void entriesOf(replica).delete(key),
    clear: () => replicas.clear(),
  }
}
