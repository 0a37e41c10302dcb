import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@keelson/database'
import type { Logger } from '@keelson/service-kit'

export type Retention = {
  /** Spans recorded longer ago are deleted, whatever times they carry. */
  retentionMs: number
  /** Spans of one statement: enough to be fast, few enough that nobody waits for their locks. */
  batchSize?: number
  signal?: AbortSignal
}

const BATCH_SIZE = 1000

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
  while (!isStopped()) {
    const startedAt = performance.now()
    const { count } = await sql.begin(async (tx) => {
      // The summary of created_at by page ranges finds what is old; reading the whole table would not.
      await tx`set local enable_seqscan = off`
      return tx`
        delete from agent.spans where ctid = any(array(
          select ctid from agent.spans where created_at < now() - ${retentionMs}::float8 * interval '1 ms'
          limit ${batchSize} for update skip locked))`
    })
    deleted += count
    if (count < batchSize) break
    await delay(performance.now() - startedAt, undefined, { ...(signal && { signal }) }).catch(() => {})
  }
  return deleted
}

/** Runs {@link retainSpans} now and every `intervalMs` until disposed, which waits for the batch under way. */
export const scheduleRetention = (
  db: Pick<Database, 'sql'>,
  { retentionMs, intervalMs, log }: { retentionMs: number; intervalMs: number; log: Logger },
): AsyncDisposable => {
  const stopping = new AbortController()
  const { signal } = stopping
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await retainSpans(db, { retentionMs, signal }).then(
        (count) => log.info({ count }, 'old spans deleted'),
        (err: unknown) => log.warn({ err }, 'old spans could not be deleted'),
      )
      await delay(intervalMs, undefined, { signal }).catch(() => {})
    }
  }
  const ended = loop()
  return {
    [Symbol.asyncDispose]: () => {
      stopping.abort()
      return ended
    },
  }
}
