import { IntegrityError, KeyProviderUnavailable } from './errors.ts'
import { singleFlight } from './single-flight.ts'

export type CacheOptions = {
  /** Entries kept; the one unused for longest goes first. */
  cacheSize: number
  /** How long an entry serves before it is loaded again, in milliseconds. */
  ttlMs: number
  /** How long past `ttlMs` an entry serves while the key provider is away, in milliseconds. */
  staleMs: number
  /** How long after a failure the provider is left alone where a stale entry can serve, in milliseconds. */
  retryMs: number
  /** A monotonic clock in milliseconds. */
  now: () => number
}

type Entry<T> = { value: T; loadedAt: number }

export type KeyCache<T> = {
  /** The entry, loaded once however many ask at the same time. */
  read(name: string, load: () => Promise<T>): Promise<T>
  /** Drops one entry, or all. What is being loaded just then is not kept. */
  forget(name?: string): void
}

/** A bounded cache that outlives an outage of the key provider for a while, and nothing else. */
export const keyCache = <T>({ cacheSize, ttlMs, staleMs, retryMs, now }: CacheOptions): KeyCache<T> => {
  const entries = new Map<string, Entry<T>>()
  let retryAt = Number.NEGATIVE_INFINITY

  const keep = (name: string, value: T) => {
    entries.delete(name)
    entries.set(name, { value, loadedAt: now() })
    if (entries.size > cacheSize) entries.delete(entries.keys().next().value as string)
  }

  const loading = singleFlight<T>(keep)

  const read = async (name: string, load: () => Promise<T>): Promise<T> => {
    const entry = entries.get(name)
    if (!entry) return loading.join(name, load)
    const age = now() - entry.loadedAt
    const mayServeStale = age < ttlMs + staleMs
    if (age < ttlMs || (mayServeStale && now() < retryAt)) {
      entries.delete(name)
      entries.set(name, entry)
      return entry.value
    }
    try {
      return await loading.join(name, load)
    } catch (error) {
      if (error instanceof IntegrityError) entries.delete(name)
      if (!mayServeStale || !(error instanceof KeyProviderUnavailable)) throw error
      retryAt = now() + retryMs
      return entry.value
    }
  }

  const forget = (name?: string) => {
    loading.forget(name)
    if (name === undefined) entries.clear()
    else entries.delete(name)
  }

  return { read, forget }
}
