import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@keelson/database'
import { repeat, type Logger } from '@keelson/service-kit'

export type Retention = {
  /** Spans recorded longer ago are deleted, whatever times they carry. */
  retentionMs: number
  /** Spans of one statement: enough to be fast, few enough that nobody waits for their locks. */
  batchSize?: number
  signal?: AbortSignal
}

const BATCH_SIZE = 1000
/** A search passes over all that was deleted before it, so it finds spans for many batches. */
const BATCHES_PER_SEARCH = 50

type Sql = Database['sql']
type Old = { retentionMs: number; limit: number }

/** Where spans are that were recorded too long ago. */
const findOld = async (sql: Sql, { retentionMs, limit }: Old): Promise<string[]> => {
  const rows = await sql.begin(async (tx) => {
    // The summary of created_at by page ranges finds what is old; reading the whole table would not.
    await tx`set local enable_seqscan = off`
    return tx<{ ctid: string }[]>`
      select ctid from agent.spans where created_at < now() - ${retentionMs}::float8 * interval '1 ms' limit ${limit}`
  })
  return rows.map(({ ctid }) => ctid)
}

/** Looks at the age again: meanwhile another span may stand in the place of one that was found. */
const deleteOld = async (sql: Sql, places: readonly string[], retentionMs: number): Promise<number> => {
  const { count } = await sql`
    delete from agent.spans where ctid = any(array(
      select ctid from agent.spans
      where ctid = any(${`{${places.map((place) => `"${place}"`).join()}}`}::text::tid[])
        and created_at < now() - ${retentionMs}::float8 * interval '1 ms'
      for update skip locked))`
  return count
}

/**
 * Deletes old spans of every account in small transactions, with a pause as long as each of them, until none is left or
 * the signal fires. Spans that are being written are left for the next run, and several processes may run at once.
 *
 * @returns how many were deleted
 */
export const retainSpans = async (
  { sql }: Pick<Database, 'sql'>,
  { retentionMs, batchSize = BATCH_SIZE, signal }: Retention,
): Promise<number> => {
  const limit = batchSize * BATCHES_PER_SEARCH
  const isStopped = (): boolean => signal?.aborted ?? false
  const deleteAll = async (places: readonly string[]): Promise<number> => {
    let deleted = 0
    for (let from = 0; from < places.length && !isStopped(); from += batchSize) {
      const startedAt = performance.now()
      deleted += await deleteOld(sql, places.slice(from, from + batchSize), retentionMs)
      await delay(performance.now() - startedAt, undefined, { ...(signal && { signal }) }).catch(() => {})
    }
    return deleted
  }

  let deleted = 0
  while (!isStopped()) {
    const places = await findOld(sql, { retentionMs, limit })
    const gone = await deleteAll(places)
    deleted += gone
    if (places.length < limit || gone === 0) break
  }
  return deleted
}

/** Runs {@link retainSpans} now and about every `intervalMs` until disposed, which waits for the batch under way. */
export const scheduleRetention = (
  db: Pick<Database, 'sql'>,
  { retentionMs, intervalMs, log }: { retentionMs: number; intervalMs: number; log: Logger },
): AsyncDisposable =>
  repeat({
    name: 'span retention',
    intervalMs,
    log,
    work: async (signal) => {
      log.info({ count: await retainSpans(db, { retentionMs, signal }) }, 'old spans deleted')
      return false
    },
  })
