import type { CheckpointListItem, ListCheckpointsRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { searchable } from './metadata-filter.ts'
import { PAGE_COLUMNS, readTuples } from './tuple-rows.ts'

type Query = z.output<typeof ListCheckpointsRequest>

/** A page of an account's checkpoints, newest first, in one statement. Ids repeat across threads: ties by thread and namespace. */
export const listCheckpoints = (
  db: Pick<Database, 'sql'>,
  account_id: string,
  query: Query,
): Promise<CheckpointListItem[]> => {
  const { sql } = db
  const { thread_id, checkpoint_ns, checkpoint_id, before_checkpoint_id, filter_metadata, starting_after } = query
  const only = (isGiven: boolean, condition: () => ReturnType<typeof sql>) => (isGiven ? condition() : sql``)
  const filters = [
    only(thread_id !== undefined, () => sql`and thread_id = ${thread_id as string}`),
    only(checkpoint_ns !== undefined, () => sql`and checkpoint_ns = ${checkpoint_ns as string}`),
    only(checkpoint_id !== undefined, () => sql`and checkpoint_id = ${checkpoint_id as string}`),
    only(before_checkpoint_id !== undefined, () => sql`and checkpoint_id < ${before_checkpoint_id as string}`),
    only(filter_metadata !== undefined, () => sql`and metadata_filter @> ${searchable(filter_metadata)}::text::jsonb`),
    only(starting_after !== undefined, () => {
      const { checkpoint_id, thread_id, checkpoint_ns } = starting_after as NonNullable<Query['starting_after']>
      return sql`and (checkpoint_id, thread_id, checkpoint_ns) < (${checkpoint_id}, ${thread_id}, ${checkpoint_ns})`
    }),
  ]
  const page = sql`
    select *, (row_number() over () - 1)::integer as item from (
      select ${sql(PAGE_COLUMNS)} from agent.checkpoints where account_id = ${account_id} ${filters}
      order by checkpoint_id desc, thread_id desc, checkpoint_ns desc limit ${query.limit}) as page`
  const parts = { blobs: false, pending_writes: false, parent_pending_sends: false }
  for (const part of query.include) parts[part] = true
  return readTuples(db, account_id, page, parts)
}
