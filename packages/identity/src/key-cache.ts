import { LRUCache } from 'lru-cache'
import type { KnownKey } from './key-lookup.ts'

const HEARING_TTL_MS = 30_000
const DEAF_TTL_MS = 1_000
const UNKNOWN_TTL_MS = 5_000

type Entry = { key: KnownKey; readAt: number }

/**
 * Remembers what a lookup by hash found, for 30 s while announcements of changes arrive and for 1 s while they may not.
 * After that a key is looked up again, but still counts as one that was valid. Unknown keys have a cache of their own, so
 * that a flood of them evicts nobody. Concurrent misses share one lookup.
 */
export const keyCache = (
  lookup: (hash: string) => Promise<KnownKey | null>,
  { maxKeys = 10_000, now = () => performance.now() } = {},
) => {
  const known = new LRUCache<string, Entry>({ max: maxKeys })
  const unknown = new LRUCache<string, number>({ max: maxKeys })
  const lookups = new Map<string, Promise<KnownKey | null>>()
  let ttlMs = DEAF_TTL_MS

  const isFresh = ({ key, readAt }: Entry, at: number) => at - readAt < ttlMs && at < key.endsAt

  const look = (hash: string): Promise<KnownKey | null> => {
    const readAt = now()
    const found = lookup(hash)
    lookups.set(hash, found)
    // A key that changed meanwhile has been taken out of the lookups, and what was found of it is not remembered.
    const isCurrent = () => lookups.get(hash) === found && lookups.delete(hash)
    const remember = (key: KnownKey | null) => {
      if (!isCurrent()) return
      if (key === null) {
        known.delete(hash)
        unknown.set(hash, readAt)
      } else known.set(hash, { key, readAt })
    }
    void found.then(remember, isCurrent)
    return found
  }

  return {
    /** The key when it is remembered, without waiting. */
    peek(hash: string): KnownKey | null {
      const entry = known.get(hash)
      return entry !== undefined && isFresh(entry, now()) ? entry.key : null
    },
    /** The key as it was when last looked at, if it was valid then, however long ago. */
    remembered: (hash: string): KnownKey | null => known.peek(hash)?.key ?? null,
    /** Finds a key that {@link peek} did not know. */
    find(hash: string): Promise<KnownKey | null> {
      const readAt = unknown.get(hash)
      if (readAt !== undefined && now() - readAt < UNKNOWN_TTL_MS) return Promise.resolve(null)
      return lookups.get(hash) ?? look(hash)
    },
    forget(hash: string): void {
      known.delete(hash)
      unknown.delete(hash)
      lookups.delete(hash)
    },
    /** Tells whether changes are announced from now on. Whatever was remembered before may be stale. */
    rely(announced: boolean): void {
      ttlMs = announced ? HEARING_TTL_MS : DEAF_TTL_MS
      for (const entry of known.values()) entry.readAt = -Infinity
      unknown.clear()
      lookups.clear()
    },
  }
}
