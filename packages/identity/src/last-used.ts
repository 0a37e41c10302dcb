import type { Database } from '@keelson/database'
import type { Principal } from '@keelson/service-kit'

export type LastUsed = AsyncDisposable & {
  touch: (principal: Principal) => void
  flush: () => Promise<void>
}

/**
 * Remembers when keys were last used and writes it down in one statement every `intervalMs` and when disposed, never
 * per request. What cannot be written is kept for the next time.
 */
export const lastUsed = (db: Pick<Database, 'sql'>, intervalMs: number): LastUsed => {
  let used = new Map<Principal['key_id'], { account_id: string; at: number }>()

  const flush = async (): Promise<void> => {
    if (used.size === 0) return
    const batch = used
    used = new Map()
    const entries = [...batch]
    const account_ids = entries.map(([, { account_id }]) => account_id)
    const ids = entries.map(([id]) => id)
    const times = entries.map(([, { at }]) => new Date(at).toISOString())
    try {
      await db.sql`select identity.touch_api_keys(${account_ids}::text[], ${ids}::text[], ${times}::timestamptz[])`
    } catch {
      used = new Map([...batch, ...used])
    }
  }

  const timer = setInterval(() => void flush(), intervalMs).unref()
  return {
    touch: ({ key_id, account_id }) => void used.set(key_id, { account_id, at: Date.now() }),
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}
