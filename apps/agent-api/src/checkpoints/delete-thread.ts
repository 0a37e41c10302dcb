import type { Database } from '@keelson/database'
import { MAX_LOCKED_BYTES, MAX_LOCKED_ROWS, withoutFlush } from './lock-limits.ts'

/**
 * Deletes a thread. Its readers see it go at once; the rest of a large one goes in parts. Leaves a tombstone, so that
 * late writes do not bring it back.
 *
 * @param unchangedSince leaves the thread alone when it changed after this time
 */
export const deleteThread = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  thread_id: string,
  unchangedSince: string | null = null,
): Promise<void> => {
  const { sql } = db
  const limits = sql`${MAX_LOCKED_ROWS}, ${MAX_LOCKED_BYTES}`
  let [deleted] = await sql<[{ is_left: boolean }]>`
    select agent.delete_thread(${account_id}, ${thread_id}, ${limits}, ${unchangedSince}) as is_left`
  while (deleted.is_left)
    [deleted] = await sql<[{ is_left: boolean }]>`
      select agent.delete_leftovers(${account_id}, ${thread_id}, ${limits}) as is_left, ${withoutFlush(db)}`
}
