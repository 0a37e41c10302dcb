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

type Sql = Database['sql']
type Batch = { found: number; deleted: number; newest: string }

/** Deletes the oldest spans that nobody holds locked, of those recorded too long ago and not before `from`. */
const deleteBatch = (sql: Sql, from: string, { retentionMs, batchSize }: Required<Omit<Retention, 'signal'>>) =>
  sql.begin(async (tx) => {
    // Where the planner expects less than a batch, it would gather and sort all that is old, however much that is.
    await tx`set local enable_sort = off`
    const [batch] = await tx<[Batch]>`
      with old as (
        select ctid, created_at from agent.spans
        where created_at >= ${from}::text::timestamptz and created_at < now() - ${retentionMs}::float8 * interval '1 ms'
        order by created_at limit ${batchSize} for update skip locked
      ), gone as (
        delete from agent.spans where ctid = any(array(select ctid from old)) returning 1
      )
      select count(*)::int as found, max(created_at) as newest, (select count(*)::int from gone) as deleted from old`
    return batch
  })

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
  const isStopped = (): boolean => signal?.aborted ?? false
  let deleted = 0
  // Each batch passes once more over what the one before deleted: that marks its index entries, and later runs skip them.
  let [from, reached] = ['-infinity', '-infinity']
  while (!isStopped()) {
    const startedAt = performance.now()
    const batch = await deleteBatch(sql, from, { retentionMs, batchSize })
    deleted += batch.deleted
    if (batch.found < batchSize || batch.deleted === 0) break
    ;[from, reached] = [reached, batch.newest]
    await delay(performance.now() - startedAt, undefined, { ...(signal && { signal }) }).catch(() => {})
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
