import type { PruneCheckpointsRequest, PruneResponse } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { removeFromThreads } from './remove-checkpoints.ts'

type Request = z.output<typeof PruneCheckpointsRequest>

/** Threads in which some namespace holds more than the rules keep by themselves. */
const candidates = async ({ sql }: Pick<Database, 'sql'>, account_id: string, request: Request): Promise<string[]> => {
  const { thread_ids, keep_last, max_age_seconds } = request
  const among = thread_ids === undefined ? sql`` : sql`and thread_id = any (${thread_ids}::text[])`
  const beyond = keep_last === undefined ? sql`` : sql`and count(*) > ${keep_last}`
  const older =
    max_age_seconds === undefined
      ? sql``
      : sql`and min(created_at) <= now() - make_interval(secs => ${max_age_seconds})`
  const rows = await sql<{ thread_id: string }[]>`
    select distinct thread_id from (
      select thread_id from agent.checkpoints where account_id = ${account_id} ${among}
      group by thread_id, checkpoint_ns having true ${beyond} ${older}) as crowded
    order by thread_id`
  return rows.map(({ thread_id }) => thread_id)
}

/** Deletes old checkpoints of an account, thread by thread, as far as one request goes. */
export const prune = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  request: Request,
): Promise<z.infer<typeof PruneResponse>> => {
  const { keep_last, max_age_seconds, dry_run: dryRun } = request
  const isKept = db.sql`
    coalesce(rank <= ${keep_last ?? null}::integer, false)
    or coalesce(created_at > now() - make_interval(secs => ${max_age_seconds ?? null}::integer), false)`
  return removeFromThreads(db, await candidates(db, account_id, request), { account_id, isKept, dryRun })
}
