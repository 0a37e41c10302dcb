import type { Database } from '@keelson/database'
import { NOTHING, removeCheckpoints, sum, type Counts } from './remove-checkpoints.ts'

/** Deletes the checkpoints of runs, save those that a checkpoint of another run needs to rebuild a delta channel. */
export const deleteByRun = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  run_ids: string[],
): Promise<Counts> => {
  const { sql } = db
  const isKept = sql`(run_id = any (${run_ids}::text[])) is not true`
  const threads = await sql<{ thread_id: string }[]>`
    select distinct thread_id from agent.checkpoints where account_id = ${account_id} and run_id = any (${run_ids}::text[])`
  let removed: Counts = NOTHING
  for (const { thread_id } of threads) {
    const { isLeft: _, ...counts } = await removeCheckpoints(db, { account_id, thread_id, isKept })
    removed = sum(removed, counts)
  }
  return removed
}
