import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import type { Database } from './connect.ts'

export type SubscribeOptions = {
  channel: string
  onNotification: (payload: string) => void
  /** Called each time the channel is open; whatever was announced before then may have been missed. */
  onReady: () => void
  /** Called as soon as announcements can no longer be relied on, until the next `onReady`. */
  onLost: () => void
  /** A connection that answers nothing for this long counts as lost. */
  silenceMs?: number
}

export type Subscription = AsyncDisposable

const within = async <Result>(query: PromiseLike<Result>, ms: number): Promise<Result> => {
  const silent = Promise.withResolvers<never>()
  const timer = setTimeout(() => silent.reject(new Error('no answer')), ms)
  return Promise.race([query, silent.promise]).finally(() => clearTimeout(timer))
}

/** A client of one connection to the same database, whose end is told to `onClose`. */
const dedicated = (
  db: Pick<Database, 'sql'>,
  onNotification: (channel: string, payload: string) => void,
  onClose: () => void,
): postgres.Sql => {
  const { options } = db.sql
  const own = { max: 1, max_lifetime: null, fetch_types: false, shared: { retries: 0, typeArrayMap: {} } }
  const settings = { ...options, ...own, onnotify: onNotification, onclose: onClose }
  return postgres(settings as unknown as postgres.Options<Record<string, postgres.PostgresType>>)
}

/**
 * Listens to a Postgres channel on a connection of its own until disposed. It reconnects by itself. A connection counts
 * as listening once it has heard itself, which one behind a pooler never does, and a heartbeat tells one that was cut
 * without a word from a quiet one.
 */
export const subscribe = (db: Pick<Database, 'sql'>, options: SubscribeOptions): Subscription => {
  const { channel, onNotification, onReady, onLost, silenceMs = 800 } = options
  const stop = new AbortController()

  const session = async (): Promise<void> => {
    const ended = new AbortController()
    const probe = `${channel}_${randomUUID()}`
    const heard = Promise.withResolvers<void>()
    const onMessage = (name: string, payload: string) => (name === probe ? heard.resolve() : onNotification(payload))
    const sql = dedicated(db, onMessage, () => ended.abort())
    const end = () => {
      ended.abort()
      void sql.end({ timeout: 0 })
    }
    stop.signal.addEventListener('abort', end)
    let ready = false
    try {
      await within(sql`listen ${sql(channel)}`, 5_000)
      await sql`listen ${sql(probe)}`
      await sql`notify ${sql(probe)}`
      await within(heard.promise, silenceMs)
      await sql`unlisten ${sql(probe)}`
      ready = true
      onReady()
      while (true) {
        await delay(silenceMs / 2, null, { signal: ended.signal })
        await within(sql`select 1`, silenceMs / 2)
      }
    } finally {
      stop.signal.removeEventListener('abort', end)
      if (ready && !stop.signal.aborted) onLost()
      await sql.end({ timeout: 0 })
    }
  }

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await session().catch(() => {})
      await delay(100 + Math.random() * 150, null, { signal: stop.signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}
