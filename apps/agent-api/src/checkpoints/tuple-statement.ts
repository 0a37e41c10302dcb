/** What to read beside the checkpoints. */
export type Parts = { blobs: boolean; pending_writes: boolean; parent_pending_sends: boolean }

/** What to read. */
export type Page = {
  /** A query whose rows are checkpoints with their position `item`; `$1` is the account. */
  text: string
  /** The page ends with the item that goes beyond so many bytes; `null` for a page of one item at most, number 0. */
  maxBytes: number | null
  /** What one item may weigh, in bytes: a parameter, such as `$4`. */
  maxItemBytes: string
}

/** The columns that a page needs, beside `item`. */
export const PAGE_COLUMNS =
  'thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata, channels, versions'

// What is found first is names, sizes and where large values are: those are read when the page is known to be answered.
const FOUND_BLOBS = `blobs as materialized (
    select item, named.channel, named.version, b.type, b.blob
    from (
      select item, thread_id, checkpoint_ns, unnest(channels) as channel, unnest(versions) as version from found
    ) as named, lateral (
      select type, blob from agent.checkpoint_blobs as b
      where b.account_id = $1 and b.thread_id = named.thread_id and b.checkpoint_ns = named.checkpoint_ns
        and b.channel = named.channel and b.version = named.version limit 1) as b
  )`

// LangGraph applies and replays the writes of a step in this order.
const WRITE_ORDER = 'task_path, task_id, idx'

const foundWrites = (part: keyof Parts, checkpoint_id: string, condition: string) => `${part} as materialized (
    select item, task_id, idx, channel, type, blob
    from found, lateral (
      select * from agent.checkpoint_writes as w
      where w.account_id = $1 and w.thread_id = found.thread_id and w.checkpoint_ns = found.checkpoint_ns
        and w.checkpoint_id = found.${checkpoint_id} ${condition} offset 0) as w
    order by item, ${WRITE_ORDER}
  )`

const FOUND: Record<keyof Parts, string> = {
  blobs: FOUND_BLOBS,
  pending_writes: foundWrites('pending_writes', 'checkpoint_id', ''),
  parent_pending_sends: foundWrites('parent_pending_sends', 'parent_checkpoint_id', `and w.channel = '__pregel_tasks'`),
}

// Every row is JSON already, with a text of Postgres around what is stored: nothing is parsed on the way to the caller.
const CHECKPOINTS = `
  select item, 'checkpoint' as part, concat(
    '{"thread_id":', to_json(thread_id), ',"checkpoint_ns":', to_json(checkpoint_ns), ',"checkpoint_id":', to_json(checkpoint_id),
    ',"parent_checkpoint_id":', coalesce(to_json(parent_checkpoint_id), 'null'), ',"checkpoint":', checkpoint, ',"metadata":', metadata
  ) as json, null as base64
  from found`

const BASE64 = `replace(encode(blob, 'base64'), E'\\n', '')`

const BLOBS = `
  select item, 'blobs', concat(
    '{"channel":', to_json(channel), ',"version":', to_json(version), ',"type":', to_json(type), ',"blob":', case when blob is null then 'null' end),
    ${BASE64}
  from blobs`

const writesOf = (part: keyof Parts) => `
  select item, '${part}', concat(
    '{"task_id":', to_json(task_id), ',"idx":', idx, ',"channel":', to_json(channel), ',"type":', coalesce(to_json(type), 'null'), ',"blob":'),
    ${BASE64}
  from ${part}`

/** What a value weighs in an answer: with its names, and what each costs on the way, so that many small ones count. */
export const weightOf = (blob: string): string => `(coalesce(octet_length(${blob}), 0) + 1024)`

/** The number of the last item that is answered. */
const lastOfPage = (sizes: string, maxBytes: number, maxItemBytes: string): string => `
    select max(item) as item from (
      select item, max(sum(bytes)) over up_to_here as largest, sum(sum(bytes)) over up_to_here - sum(bytes) as bytes_before
      from (${sizes}) as sizes group by item window up_to_here as (order by item)) as sized
    where bytes_before <= ${maxBytes} and (largest <= ${maxItemBytes}::bigint or item = 0 and agent.refuse('tuple_too_large'))`

/** No join, so that what was found in order stays in order. */
const ANSWERED = 'where item <= (select item from last)'

/** Where there is one item, sorting and windows would take a sixth of its statement. */
const fits = (sizes: string, maxItemBytes: string): string =>
  `where coalesce((select sum(bytes) from (${sizes}) as sizes), 0) <= ${maxItemBytes}::bigint or agent.refuse('tuple_too_large')`

/** A statement whose rows are the checkpoints of a page, which come first, and the parts of each. */
export type TupleStatement = { text: string; parts: Parts }

export const tupleStatement = ({ text, maxBytes, maxItemBytes }: Page, parts: Parts): TupleStatement => {
  const names = (['blobs', 'pending_writes', 'parent_pending_sends'] as const).filter((part) => parts[part])
  const found = [`found as materialized (${text})`, ...names.map((part) => FOUND[part])].join(', ')
  const others = names.map((part) => (part === 'blobs' ? BLOBS : writesOf(part)))
  const sizes = [
    'select item, octet_length(checkpoint) + octet_length(metadata) as bytes from found',
    ...names.map((part) => `select item, ${weightOf('blob')} from ${part}`),
  ].join(' union all ')
  if (maxBytes === null) {
    const selects = [`${CHECKPOINTS} ${fits(sizes, maxItemBytes)}`, ...others]
    return { text: `with ${found} ${selects.join(' union all ')}`, parts }
  }
  const last = `last as materialized (${lastOfPage(sizes, maxBytes, maxItemBytes)})`
  const selects = [CHECKPOINTS, ...others].map((select) => `${select} ${ANSWERED}`)
  return { text: `with ${found}, ${last} ${selects.join(' union all ')}`, parts }
}
