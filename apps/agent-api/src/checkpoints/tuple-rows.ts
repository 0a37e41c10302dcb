import { JsonText } from '@keelson/contracts'
import type { CheckpointBlob, CheckpointListItem, CheckpointWrite } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { PendingQuery, Row as AnyRow } from 'postgres'
import type { z } from 'zod'

type Write = z.infer<typeof CheckpointWrite>
type Blob = z.infer<typeof CheckpointBlob>

/** What to read beside the checkpoints. */
export type Parts = { blobs: boolean; pending_writes: boolean; parent_pending_sends: boolean }

type Facts = {
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  parent_checkpoint_id: string | null
  checkpoint: string
  metadata: string
}
type Row = { item: number; part: 'checkpoint' | 'blob' | 'write' | 'send' } & Facts & Write & Blob

const SENDS = '__pregel_tasks'

/** Base64 as the wire has it: Postgres breaks it into lines. */
export const oneLine = (base64: string): string => (base64.length > 76 ? base64.replaceAll('\n', '') : base64)

const blobsOf = ({ sql }: Pick<Database, 'sql'>, account_id: string) => sql`
  union all
  select item, 'blob', null, null, null, null, null, null, named.channel, named.version, b.type, encode(b.blob, 'base64'), null, null
  from page, unnest(channels, versions) as named (channel, version), lateral (
    select type, blob from agent.checkpoint_blobs as b
    where b.account_id = ${account_id} and b.thread_id = page.thread_id and b.checkpoint_ns = page.checkpoint_ns
      and b.channel = named.channel and b.version = named.version limit 1) as b`

const writesOf = ({ sql }: Pick<Database, 'sql'>, account_id: string, part: 'write' | 'send') => {
  const isSend = part === 'send'
  const ofChannel = isSend ? sql`and w.channel = ${SENDS}` : sql``
  return sql`
    union all (
    select item, ${part}, null, null, null, null, null, null, w.channel, null, w.type, encode(w.blob, 'base64'), w.task_id, w.idx
    from page, lateral (
      select channel, type, blob, task_id, idx, task_path from agent.checkpoint_writes as w
      where w.account_id = ${account_id} and w.thread_id = page.thread_id and w.checkpoint_ns = page.checkpoint_ns
        and w.checkpoint_id = ${isSend ? sql`page.parent_checkpoint_id` : sql`page.checkpoint_id`} ${ofChannel} offset 0) as w
    order by ${isSend ? sql`item, w.task_path, w.task_id, w.idx` : sql`item, w.task_id, w.idx`})`
}

/** The columns that {@link readTuples} needs of a page, beside `item`, the position. */
export const PAGE_COLUMNS = [
  'thread_id',
  'checkpoint_ns',
  'checkpoint_id',
  'parent_checkpoint_id',
  'checkpoint',
  'metadata',
  'channels',
  'versions',
] as const

const present = (row: Row, parts: Parts): CheckpointListItem => ({
  thread_id: row.thread_id,
  checkpoint_ns: row.checkpoint_ns,
  checkpoint_id: row.checkpoint_id,
  parent_checkpoint_id: row.parent_checkpoint_id,
  checkpoint: new JsonText(row.checkpoint),
  metadata: new JsonText(row.metadata),
  ...(parts.blobs && { blobs: [] }),
  ...(parts.pending_writes && { pending_writes: [] }),
  ...(parts.parent_pending_sends && { parent_pending_sends: [] }),
})

const presentWrite = ({ task_id, idx, channel, type, blob }: Row): Write => ({
  task_id,
  idx,
  channel,
  type,
  blob: oneLine(blob ?? ''),
})

/**
 * The checkpoints of a page, with what was asked for beside them, in one statement and one snapshot: a row for each
 * checkpoint, blob and write.
 */
export const readTuples = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  page: PendingQuery<AnyRow[]>,
  parts: Parts,
): Promise<CheckpointListItem[]> => {
  const { sql } = db
  const rows = await sql<Row[]>`
    with page as materialized (${page})
    select item, 'checkpoint' as part, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata,
      null as channel, null as version, null as type, null as blob, null as task_id, null::integer as idx
    from page
    ${parts.blobs ? blobsOf(db, account_id) : sql``}
    ${parts.pending_writes ? writesOf(db, account_id, 'write') : sql``}
    ${parts.parent_pending_sends ? writesOf(db, account_id, 'send') : sql``}`
  const items: CheckpointListItem[] = []
  for (const row of rows) {
    const item = (items[row.item] ??= present(row, parts))
    if (row.part === 'blob') {
      const { channel, version, type, blob } = row
      item.blobs?.push({ channel, version, type, blob: blob === null ? null : oneLine(blob) })
    } else if (row.part !== 'checkpoint')
      item[row.part === 'write' ? 'pending_writes' : 'parent_pending_sends']?.push(presentWrite(row))
  }
  return items
}
