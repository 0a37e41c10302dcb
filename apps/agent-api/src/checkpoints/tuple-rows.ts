import { JsonText } from '@keelson/contracts'
import type { CheckpointListItem } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'

/** What to read beside the checkpoints. */
export type Parts = { blobs: boolean; pending_writes: boolean; parent_pending_sends: boolean }

/** A query whose rows are checkpoints with their position `item`; `$1` is the account. */
export type Page = {
  text: string
  parameters: (string | number)[]
  /** The page ends with the item that goes beyond so many bytes. */
  maxBytes?: number
}

type Part = keyof Parts | 'checkpoint'
type Row = { item: number; part: Part; json: string }

/** The columns that {@link readTuples} needs of a page, beside `item`. */
export const PAGE_COLUMNS =
  'thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata, channels, versions'

// Every row is JSON already, with a text of Postgres around what is stored: nothing is parsed on the way to the caller.
const CHECKPOINTS = `
  select item, 'checkpoint' as part, concat(
    '{"thread_id":', to_json(thread_id), ',"checkpoint_ns":', to_json(checkpoint_ns), ',"checkpoint_id":', to_json(checkpoint_id),
    ',"parent_checkpoint_id":', coalesce(to_json(parent_checkpoint_id), 'null'), ',"checkpoint":', checkpoint, ',"metadata":', metadata
  ) as json
  from page`

const BLOBS = `
  select item, 'blobs', concat(
    '{"channel":', to_json(named.channel), ',"version":', to_json(named.version), ',"type":', to_json(type),
    ',"blob":', coalesce('"' || encode(blob, 'base64') || '"', 'null'), '}')
  from page, unnest(channels, versions) as named (channel, version), lateral (
    select type, blob from agent.checkpoint_blobs as b
    where b.account_id = $1 and b.thread_id = page.thread_id and b.checkpoint_ns = page.checkpoint_ns
      and b.channel = named.channel and b.version = named.version limit 1) as b`

const writesOf = (part: Part, checkpoint_id: string, condition: string, order: string) => `
  (select item, '${part}', concat(
    '{"task_id":', to_json(task_id), ',"idx":', idx, ',"channel":', to_json(channel), ',"type":', coalesce(to_json(type), 'null'),
    ',"blob":"', encode(blob, 'base64'), '"}')
  from page, lateral (
    select * from agent.checkpoint_writes as w
    where w.account_id = $1 and w.thread_id = page.thread_id and w.checkpoint_ns = page.checkpoint_ns
      and w.checkpoint_id = page.${checkpoint_id} ${condition} offset 0) as w
  order by item, ${order})`

const WRITES = writesOf('pending_writes', 'checkpoint_id', '', 'task_id, idx')
const SENDS = writesOf(
  'parent_pending_sends',
  'parent_checkpoint_id',
  `and w.channel = '__pregel_tasks'`,
  'task_path, task_id, idx',
)

const BLOB_BYTES = `coalesce((
  select sum(octet_length(blob)) from unnest(channels, versions) as named (channel, version), lateral (
    select blob from agent.checkpoint_blobs as b
    where b.account_id = $1 and b.thread_id = found.thread_id and b.checkpoint_ns = found.checkpoint_ns
      and b.channel = named.channel and b.version = named.version limit 1) as b), 0)`

const writeBytes = (checkpoint_id: string) => `coalesce((
  select sum(octet_length(blob)) from agent.checkpoint_writes as w
  where w.account_id = $1 and w.thread_id = found.thread_id and w.checkpoint_ns = found.checkpoint_ns
    and w.checkpoint_id = found.${checkpoint_id}), 0)`

/** As much of a page as `maxBytes` allow, one item at least. Sizes are known without reading what they are of. */
const within = ({ text, maxBytes }: Page, parts: Parts): string => {
  if (maxBytes === undefined) return text
  const sizes = ['octet_length(checkpoint) + octet_length(metadata)']
  if (parts.blobs) sizes.push(BLOB_BYTES)
  if (parts.pending_writes) sizes.push(writeBytes('checkpoint_id'))
  if (parts.parent_pending_sends) sizes.push(writeBytes('parent_checkpoint_id'))
  return `
    select * from (
      select *, sum(bytes) over (order by item) - bytes as bytes_before
      from (select *, ${sizes.join(' + ')} as bytes from (${text}) as found) as sized) as summed
    where bytes_before <= ${maxBytes}`
}

const statementOf = (page: Page, parts: Parts): string => {
  const selects = [CHECKPOINTS]
  if (parts.blobs) selects.push(BLOBS)
  if (parts.pending_writes) selects.push(WRITES)
  if (parts.parent_pending_sends) selects.push(SENDS)
  return `with page as materialized (${within(page, parts)}) ${selects.join(' union all ')}`
}

/** Postgres breaks base64 into lines; nothing else in these rows holds a line break. */
export const oneLine = (text: string): string => (text.includes('\n') ? text.replace(/\n/g, '') : text)

type Item = { checkpoint: string } & Record<keyof Parts, string[]>

/** An item as its own JSON, which the answer carries as it is. */
const present = ({ checkpoint, ...members }: Item, parts: Parts): CheckpointListItem => {
  let text = checkpoint
  for (const part of ['blobs', 'pending_writes', 'parent_pending_sends'] as const) {
    if (parts[part]) text += `,"${part}":[${members[part].join(',')}]`
  }
  return new JsonText(`${text}}`) as unknown as CheckpointListItem
}

/**
 * The checkpoints of a page as JSON, with what was asked for beside them, in one statement and one snapshot: a row for
 * each checkpoint, blob and write.
 */
export const readTuples = async (
  { sql }: Pick<Database, 'sql'>,
  page: Page,
  parts: Parts,
): Promise<CheckpointListItem[]> => {
  const rows = await sql.unsafe<Row[]>(statementOf(page, parts), page.parameters, { prepare: true })
  const items: Item[] = []
  for (const { item, part, json } of rows) {
    if (part === 'checkpoint')
      items[item] = { checkpoint: json, blobs: [], pending_writes: [], parent_pending_sends: [] }
    else items[item]?.[part].push(oneLine(json))
  }
  return items.map((item) => present(item, parts))
}
