import type { Database } from '@keelson/database'
import { MAX_DELETED_AT_ONCE_BYTES, MAX_LOCKED_BYTES, MAX_LOCKED_ROWS, withoutFlush } from './lock-limits.ts'
import { removeHistory } from './remove-checkpoints.ts'

type Sql = Pick<Database, 'sql'>

const limits = ({ sql }: Sql) => sql`${MAX_LOCKED_ROWS}, ${MAX_LOCKED_BYTES}`

/** Deletes what deleted checkpoints of a thread have left, in parts. */
export const deleteLeftovers = async (db: Sql, account_id: string, thread_id: string): Promise<void> => {
  for (let isLeft = true; isLeft;) {
    const [{ is_left }] = await db.sql<[{ is_left: boolean }]>`
      select agent.delete_leftovers(${account_id}, ${thread_id}, ${limits(db)}) as is_left, ${withoutFlush(db)}`
    isLeft = is_left
  }
}

/**
 * Deletes a thread. Its readers see it go at once; the rest of a large one goes in parts. Leaves a tombstone, so that
 * late writes do not bring it back.
 *
 * @param unchangedSince leaves the thread alone when it changed after this time
 */
export const deleteAtOnce = async (
  db: Sql,
  account_id: string,
  thread_id: string,
  unchangedSince: string | null = null,
): Promise<void> => {
  const [{ is_left }] = await db.sql<[{ is_left: boolean }]>`
    select agent.delete_thread(${account_id}, ${thread_id}, ${limits(db)}, ${unchangedSince}) as is_left`
  if (is_left) await deleteLeftovers(db, account_id, thread_id)
}

/**
 * Deletes a thread as {@link deleteAtOnce} does. Of one whose checkpoints themselves are large, all but the latest go
 * before, in parts.
 */
export const deleteThread = async (db: Sql, account_id: string, thread_id: string): Promise<void> => {
  const [{ is_left }] = await db.sql<[{ is_left: boolean | null }]>`
    select agent.delete_light_thread(${account_id}, ${thread_id}, ${limits(db)}, ${MAX_DELETED_AT_ONCE_BYTES}) as is_left`
  if (is_left) return deleteLeftovers(db, account_id, thread_id)
  if (is_left === null) {
    await removeHistory(db, account_id, thread_id)
    await deleteAtOnce(db, account_id, thread_id)
  }
}
