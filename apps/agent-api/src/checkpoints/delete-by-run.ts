import type { PruneResponse } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { removeFromThreads } from './remove-checkpoints.ts'

/** Deletes the checkpoints of runs, save those that a checkpoint of another run needs to rebuild a delta channel. */
export const deleteByRun = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  run_ids: string[],
): Promise<z.infer<typeof PruneResponse>> => {
  const { sql } = db
  const isKept = sql`(run_id = any (${run_ids}::text[])) is not true`
  const threads = await sql<{ thread_id: string }[]>`
    select distinct thread_id from agent.checkpoints
    where account_id = ${account_id} and run_id = any (${run_ids}::text[]) order by thread_id`
  const thread_ids = threads.map(({ thread_id }) => thread_id)
  return removeFromThreads(db, thread_ids, { account_id, isKept })
}
