import type { JsonBytes } from '@keelson/contracts'
import { CHECKPOINT_LIMIT_BYTES, type ListCheckpointsRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { searchable } from './metadata-filter.ts'
import { arrayOf, readTuples } from './tuple-rows.ts'
import { PAGE_COLUMNS, tupleStatement } from './tuple-statement.ts'

type Query = z.output<typeof ListCheckpointsRequest>

/** Where a page ends early, so that no list takes more memory than a large checkpoint does. */
const MAX_PAGE_BYTES = CHECKPOINT_LIMIT_BYTES

/**
 * A page of an account's checkpoints, newest first, in one statement. Ids repeat across threads: ties by thread and
 * namespace. A page of large checkpoints is shorter than its limit, and never empty while there are more.
 */
export const listCheckpoints = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  query: Query,
  maxTupleBytes: number,
): Promise<JsonBytes> => {
  const { thread_id, checkpoint_ns, checkpoint_id, before_checkpoint_id, filter_metadata, starting_after } = query
  const parameters: (string | number)[] = [account_id]
  const parameter = (value: string | number) => `$${parameters.push(value)}`
  const conditions = ['account_id = $1', 'kept_for is null']
  if (thread_id !== undefined) conditions.push(`thread_id = ${parameter(thread_id)}`)
  if (checkpoint_ns !== undefined) conditions.push(`checkpoint_ns = ${parameter(checkpoint_ns)}`)
  if (checkpoint_id !== undefined) conditions.push(`checkpoint_id = ${parameter(checkpoint_id)}`)
  if (before_checkpoint_id !== undefined) conditions.push(`checkpoint_id < ${parameter(before_checkpoint_id)}`)
  if (filter_metadata !== undefined) {
    conditions.push(`metadata_filter @> ${parameter(searchable(filter_metadata))}::text::jsonb`)
  }
  if (starting_after !== undefined) {
    const last = [starting_after.checkpoint_id, starting_after.thread_id, starting_after.checkpoint_ns].map(parameter)
    conditions.push(`(checkpoint_id, thread_id, checkpoint_ns) < (${last.join(', ')})`)
  }
  const text = `
    select *, (row_number() over () - 1)::integer as item from (
      select ${PAGE_COLUMNS} from agent.checkpoints where ${conditions.join(' and ')}
      order by checkpoint_id desc, thread_id desc, checkpoint_ns desc limit ${parameter(query.limit)}) as page`
  const parts = { blobs: false, pending_writes: false, parent_pending_sends: false }
  for (const part of query.include) parts[part] = true
  const page = { text, maxBytes: MAX_PAGE_BYTES, maxItemBytes: parameter(maxTupleBytes) }
  return arrayOf(await readTuples(db, tupleStatement(page, parts), parameters))
}
