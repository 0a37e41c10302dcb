import { JsonText } from '@keelson/contracts'
import type { CheckpointThread, CheckpointThreadList, ListThreadsRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { invalidField } from '@keelson/service-kit'
import type { z } from 'zod'
import { searchable } from './metadata-filter.ts'
import { secondsKept } from './ttl.ts'

type Query = z.output<typeof ListThreadsRequest>
type Row = Omit<CheckpointThread, 'metadata'> & { metadata: string }
type Cursor = string | Pick<CheckpointThread, 'thread_id' | 'updated_at'>

/** A thread that changes moves to the front, so only the position it was read at is where the page before ended. */
const positionOf = ({ sql }: Pick<Database, 'sql'>, account_id: string, cursor: Cursor) =>
  typeof cursor === 'string'
    ? sql`select updated_at, thread_id from agent.threads where account_id = ${account_id} and thread_id = ${cursor}`
    : sql`${cursor.updated_at}::text::timestamptz, ${cursor.thread_id}`

const refuseUnknownCursor = async (
  { sql }: Pick<Database, 'sql'>,
  account_id: string,
  cursor: string,
): Promise<void> => {
  const [known] = await sql`select from agent.threads where account_id = ${account_id} and thread_id = ${cursor}`
  if (!known) invalidField('starting_after', 'names no thread')
}

/**
 * A page of an account's threads, the last changed first, in one statement. Only the threads of the page are counted.
 * To be deleted is a change: a page after the id of such a thread begins with what changed before that.
 *
 * @throws ApiError `invalid_request` when `starting_after` is an id, and of no thread of the account
 */
export const listThreads = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  query: Query,
): Promise<z.infer<typeof CheckpointThreadList>> => {
  const { sql } = db
  const { filter_metadata, limit, starting_after } = query
  const filter =
    filter_metadata === undefined ? sql`` : sql`and metadata_filter @> ${searchable(filter_metadata)}::text::jsonb`
  const after =
    starting_after === undefined
      ? sql``
      : sql`and (t.updated_at, t.thread_id) < (${positionOf(db, account_id, starting_after)})`
  const latest = (namespaces: ReturnType<typeof sql>) => sql`
    (select checkpoint_id, metadata, metadata_filter from agent.checkpoints as c
     where c.account_id = ${account_id} and c.thread_id = t.thread_id and ${namespaces} order by checkpoint_id desc limit 1)`
  const rows = await sql<Row[]>`
    select page.*, checkpoint_count, write_count, (checkpoint_bytes + blob_bytes + write_bytes)::bigint as bytes
    from (
      select t.thread_id, checkpoint_id, metadata, t.created_at, t.updated_at,
        t.updated_at + make_interval(secs => ${secondsKept(db)}) as expires_at
      from agent.threads as t left join agent.checkpoint_ttls as d on d.account_id = ${account_id}
      cross join lateral (${latest(sql`c.checkpoint_ns = ''`)} union all ${latest(sql`c.checkpoint_ns <> ''`)} limit 1) as latest
      where t.account_id = ${account_id} ${filter} ${after}
      order by t.updated_at desc, t.thread_id desc limit ${limit + 1}) as page
    cross join lateral (
      select (count(*) filter (where kept_for is null))::integer as checkpoint_count, coalesce(sum(octet_length(checkpoint) + octet_length(metadata)), 0) as checkpoint_bytes
      from agent.checkpoints as c where c.account_id = ${account_id} and c.thread_id = page.thread_id) as c
    cross join lateral (
      select coalesce(sum(octet_length(blob)), 0) as blob_bytes
      from agent.checkpoint_blobs as b where b.account_id = ${account_id} and b.thread_id = page.thread_id) as b
    cross join lateral (
      select count(*)::integer as write_count, coalesce(sum(octet_length(blob)), 0) as write_bytes
      from agent.checkpoint_writes as w where w.account_id = ${account_id} and w.thread_id = page.thread_id) as w
    order by updated_at desc, thread_id desc`
  if (rows.length === 0 && typeof starting_after === 'string') await refuseUnknownCursor(db, account_id, starting_after)
  const threads = rows.slice(0, limit).map((row) => ({ ...row, metadata: new JsonText(row.metadata) }))
  return { threads, has_more: rows.length > limit }
}
