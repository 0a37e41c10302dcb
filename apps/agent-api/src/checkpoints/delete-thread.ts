import type { Database } from '@keelson/database'

/** Rows of one kind that are deleted under one lock. */
export const PART = 1000

/**
 * Deletes a thread. Its readers see it go at once; the rest of a large one goes in parts. Leaves a tombstone, so that
 * late writes do not bring it back.
 *
 * @param unchangedSince leaves the thread alone when it changed after this time
 */
export const deleteThread = async (
  { sql }: Pick<Database, 'sql'>,
  account_id: string,
  thread_id: string,
  unchangedSince: string | null = null,
): Promise<void> => {
  const [deleted] = await sql<[{ is_left: boolean }]>`
    select agent.delete_thread(${account_id}, ${thread_id}, ${PART}, ${unchangedSince}) as is_left`
  let isLeft = deleted.is_left
  while (isLeft) {
    const [{ blobs, writes }] = await sql<[{ blobs: number; writes: number }]>`
      select blobs, writes from agent.delete_leftovers(${account_id}, ${thread_id}, ${PART})`
    isLeft = blobs === PART || writes === PART
  }
}
