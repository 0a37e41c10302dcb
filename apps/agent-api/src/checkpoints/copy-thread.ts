import type { Database } from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import { deleteLeftovers } from './delete-thread.ts'
import { orRefusal } from './refusals.ts'
import type { Counts } from './remove-checkpoints.ts'

const copyOnce = async (
  { sql }: Pick<Database, 'sql'>,
  account_id: string,
  source: string,
  target: string,
): Promise<Counts> => {
  const ofSource = sql`admitted where account_id = ${account_id} and thread_id = ${source}`
  // What `admit_copy` finds there may have come after that moment.
  const [copied] = await orRefusal(sql<[Counts]>`
    with admitted as materialized (
      select agent.admit_copy(${account_id}, ${source}, ${target})
    ), thread as (
      insert into agent.threads (account_id, thread_id) select ${account_id}, ${target} from admitted
      on conflict (account_id, thread_id) do update set updated_at = now()
    ), checkpoints as (
      insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
        checkpoint, metadata, metadata_filter, channels, versions, run_id, created_at, kept_for)
      select account_id, ${target}, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
        checkpoint, metadata, metadata_filter, channels, versions, run_id, created_at, kept_for
      from agent.checkpoints, ${ofSource}
      returning 1
    ), blobs as (
      insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
      select account_id, ${target}, checkpoint_ns, channel, version, type, blob from agent.checkpoint_blobs, ${ofSource}
      on conflict (account_id, thread_id, checkpoint_ns, channel, version) do update set type = excluded.type, blob = excluded.blob
      returning 1
    ), writes as (
      insert into agent.checkpoint_writes
        (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
      select account_id, ${target}, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path
      from agent.checkpoint_writes as w, ${ofSource} and exists (
        select from agent.checkpoints as c where c.account_id = ${account_id} and c.thread_id = ${source}
          and c.checkpoint_ns = w.checkpoint_ns and c.checkpoint_id = w.checkpoint_id offset 0)
      on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do update
        set channel = excluded.channel, type = excluded.type, blob = excluded.blob, task_path = excluded.task_path
      returning 1
    )
    select (select case when count(*) > 0 then count(*)::integer when agent.refuse('not_found') then 0 end from checkpoints) as checkpoints,
      (select count(*)::integer from blobs) as blobs, (select count(*)::integer from writes) as writes`)
  return copied
}

/** The target may be deleted again and again meanwhile. */
const ATTEMPTS = 5

/**
 * Copies a thread with everything in it as of one moment, in one statement. Nobody waits for it who works on the source.
 * What an unfinished deletion has left in the target goes first.
 *
 * @throws ApiError `not_found`, `thread_exists` when the target has checkpoints, or `thread_deleted` when it is being deleted
 */
export const copyThread = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  source: string,
  target: string,
): Promise<Counts> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copyOnce(db, account_id, source, target)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'thread_deleted' || attempt === ATTEMPTS) throw error
    }
    await deleteLeftovers(db, account_id, target)
  }
}
