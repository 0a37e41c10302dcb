import { type Database, textArray } from '@keelson/database'
import { type Payload, PAYLOADS, type SpanFacts, type SpanPatch, type WrittenSpan } from './span-row.ts'

/** A write of one span, as the statements below take it. */
export type SpanWrite = { account_id: string } & SpanPatch

/** The span as stored after a write, or `null` when the write did not apply. */
export type Written = WrittenSpan | null

/** What one statement answers of payloads that were stored before: of one span, and of all. */
const SPAN_PAYLOAD_BYTES = 524_288
const STATEMENT_PAYLOAD_BYTES = 4 * 1_048_576

type Sql = Pick<Database, 'sql'>

type Row = SpanFacts & { [Field in Payload as `${Field}_bytes`]: number | null } & {
  account_id: string
  is_new: boolean
  fits: boolean
}

/** Names a span among those of all accounts. */
export const keyOf = ({ account_id, id }: Pick<SpanWrite, 'account_id' | 'id'>): string => `${account_id} ${id}`

/** The text of what was sent is in hand, unless it was merged with what was there. */
const writtenSpan = (write: SpanWrite, row: Row, isMerge: boolean): WrittenSpan => {
  const { id, trace_id, parent_id, task_id, name, start_time, end_time, fits } = row
  const payloads = PAYLOADS.filter((field) => row[`${field}_bytes`] !== null && (isMerge || write[field] === null))
  const textOf = (field: Payload) => (payloads.includes(field) ? row[field] : write[field])
  const bytes = payloads.reduce((sum, field) => sum + (row[`${field}_bytes`] ?? 0), 0)
  return {
    id,
    trace_id,
    parent_id,
    task_id,
    name,
    start_time,
    end_time,
    input: textOf('input'),
    output: textOf('output'),
    data: textOf('data'),
    ...(payloads.length > 0 && { stored: { payloads, bytes, isRead: fits } }),
  }
}

const inOrder = (writes: readonly SpanWrite[], rows: readonly Row[], isMerge: boolean): Written[] => {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  return writes.map((write) => {
    const row = byKey.get(keyOf(write))
    if (!row) return null
    return row.is_new ? (write as SpanFacts) : writtenSpan(write, row, isMerge)
  })
}

/**
 * The rows that a statement answers. Stored payloads may be a thousand times as heavy as the writes, so each row has
 * its share of what a statement may bring along; of those that weigh more only the sizes are told.
 */
const answered = ({ sql }: Sql, written: ReturnType<Database['sql']>, count: number) => {
  const share = Math.floor(Math.min(SPAN_PAYLOAD_BYTES, STATEMENT_PAYLOAD_BYTES / count))
  return sql`
    select account_id, id, is_new, trace_id, parent_id, task_id, name, start_time, end_time, fits,
      case when fits then input end as input, case when fits then output end as output, case when fits then data end as data,
      input_bytes, output_bytes, data_bytes
    from (
      select *, coalesce(input_bytes, 0) + coalesce(output_bytes, 0) + coalesce(data_bytes, 0) <= ${share}::integer as fits
      from (${written}) as written
    ) as weighed`
}

/** A lone row travels as plain parameters: that spares a lone caller a tenth of a millisecond. */
const incomingOne = ({ sql }: Sql, write: SpanWrite) => sql`
  select ${write.account_id}::text as account_id, ${write.id}::text as id, ${write.trace_id}::text as trace_id,
    ${write.parent_id}::text as parent_id, ${write.task_id}::text as task_id, ${write.name}::text as name,
    ${write.start_time}::text::timestamptz as start_time, ${write.end_time}::text::timestamptz as end_time,
    ${write.input}::text as input, ${write.output}::text as output, ${write.data}::text as data`

/** In the order of their keys, so that statements that meet lock their spans in one order. */
const incomingMany = ({ sql }: Sql, writes: readonly SpanWrite[]) => {
  const column = (name: keyof SpanWrite) => textArray(writes.map((write) => write[name]))
  return sql`
    select * from unnest(
      ${column('account_id')}::text[], ${column('id')}::text[], ${column('trace_id')}::text[], ${column('parent_id')}::text[],
      ${column('task_id')}::text[], ${column('name')}::text[],
      ${column('start_time')}::text[]::timestamptz[], ${column('end_time')}::text[]::timestamptz[],
      ${column('input')}::text[], ${column('output')}::text[], ${column('data')}::text[])
      as _ (account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data)
    order by account_id, id`
}

const incoming = (db: Sql, writes: readonly SpanWrite[]) =>
  writes.length === 1 ? incomingOne(db, writes[0] as SpanWrite) : incomingMany(db, writes)

const FACTS = ['trace_id', 'parent_id', 'task_id', 'name', 'start_time', 'end_time'].concat(
  PAYLOADS.flatMap((field) => [field, `${field}_bytes`]),
)

/** What is new needs no way back, it is what came in. */
const FACTS_OF_OLD = FACTS.map((column) => `case when xmax <> 0 then ${column} end as ${column}`).join(', ')
const FACTS_OF_NEW = FACTS.map((column) => `null as ${column}`).join(', ')

/** Whether a span was new. Most are, and for a lone caller a statement that answers nothing is back sooner. */
const insertNew = async ({ sql }: Sql, write: SpanWrite): Promise<boolean> => {
  const { account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data } = write
  const { count } = await sql`
    insert into agent.spans
      (account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data)
    values (${account_id}, ${id}, ${trace_id}, ${parent_id}, ${task_id}, ${name}, ${start_time}, ${end_time},
      ${input}, ${output}, ${data})
    on conflict (account_id, id) do nothing`
  return count === 1
}

/**
 * Creates spans in one statement, a lone one that exists already in two. An existing span gains the facts it did not
 * have yet; where a fact differs nothing changes and the result is `null`. No two writes may name the same span.
 */
export const createSpans = async (db: Sql, writes: readonly SpanWrite[]): Promise<Written[]> => {
  const { sql } = db
  const [first, ...others] = writes
  if (first && others.length === 0 && (await insertNew(db, first))) return [first as SpanFacts]
  const written = sql`
    insert into agent.spans as s
      (account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data)
    select account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data
    from (${incoming(db, writes)}) as incoming
    on conflict (account_id, id) do update set
      parent_id = coalesce(s.parent_id, excluded.parent_id),
      task_id = coalesce(s.task_id, excluded.task_id),
      end_time = coalesce(s.end_time, excluded.end_time),
      input = coalesce(s.input, excluded.input),
      output = coalesce(s.output, excluded.output),
      data = coalesce(s.data, excluded.data)
    where (s.trace_id, s.name, s.start_time) = (excluded.trace_id, excluded.name, excluded.start_time)
      and (s.parent_id, s.task_id, s.end_time, s.input, s.output, s.data)
        = (excluded.parent_id, excluded.task_id, excluded.end_time, excluded.input, excluded.output, excluded.data) is not false
    returning account_id, id, xmax = 0 as is_new, ${sql.unsafe(FACTS_OF_OLD)}`
  const rows = await sql<Row[]>`with written as (${written}) ${answered(db, sql`select * from written`, writes.length)}`
  return inOrder(writes, rows, false)
}

/** What the `data` of a span may grow to by patches, in bytes. */
export const MAX_DATA_BYTES = 16 * 1_048_576

/** How a change treats `data` that is there already. */
export type DataChange = 'merge' | 'replace'

const columns = `account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data`

/**
 * Changes spans in one statement. Merged `data` is appended to what is there, and folded by its readers. A span that
 * does not exist is created when the write holds all that a span needs. The result is `null` when there was nothing to
 * change, the span would end before it starts, or its `data` would grow beyond its limit.
 *
 * @param seen the `data` that the writes are based on; where another is stored by now, nothing changes
 */
export const changeSpans = async (
  db: Sql,
  writes: readonly SpanWrite[],
  onData: DataChange,
  seen?: string,
): Promise<Written[]> => {
  const { sql } = db
  const fields = sql.unsafe(columns)
  const created = sql`select account_id, id, true as is_new, ${sql.unsafe(FACTS_OF_NEW)} from created`
  const rows = await sql<Row[]>`
    with incoming as (${incoming(db, writes)}), changed as (
      update agent.spans as s set
        trace_id = coalesce(patch.trace_id, s.trace_id),
        name = coalesce(patch.name, s.name),
        start_time = coalesce(patch.start_time, s.start_time),
        parent_id = coalesce(patch.parent_id, s.parent_id),
        task_id = coalesce(patch.task_id, s.task_id),
        end_time = coalesce(patch.end_time, s.end_time),
        input = coalesce(patch.input, s.input),
        output = coalesce(patch.output, s.output),
        data = case when patch.data is null then s.data
          when s.data is null or ${onData === 'replace'} or patch.data ~ '^[ \t\r\n]*\\[' then patch.data
          else s.data || chr(30) || patch.data end
      from incoming as patch
      where s.account_id = patch.account_id and s.id = patch.id
        and (coalesce(patch.end_time, s.end_time) >= coalesce(patch.start_time, s.start_time)) is not false
        and (${onData === 'replace'} or patch.data is null or coalesce(s.data_bytes, 0) + octet_length(patch.data) <= ${MAX_DATA_BYTES})
        ${seen === undefined ? sql`` : sql`and s.data = ${seen}`}
      returning s.account_id, s.id, false as is_new, s.trace_id, s.parent_id, s.task_id, s.name, s.start_time, s.end_time,
        case when patch.input is null then s.input end as input,
        case when patch.input is null then s.input_bytes end as input_bytes,
        case when patch.output is null then s.output end as output,
        case when patch.output is null then s.output_bytes end as output_bytes,
        case when patch.data is null or s.data_bytes <> octet_length(patch.data) then s.data end as data,
        case when patch.data is null or s.data_bytes <> octet_length(patch.data) then s.data_bytes end as data_bytes
    ), created as (
      insert into agent.spans (${fields})
      select ${fields} from incoming
      where trace_id is not null and name is not null and start_time is not null
        and not exists (select from changed where (changed.account_id, changed.id) = (incoming.account_id, incoming.id))
      on conflict (account_id, id) do nothing
      returning account_id, id
    )
    ${answered(db, sql`select * from changed union all ${created}`, writes.length)}`
  return inOrder(writes, rows, true)
}

export type Compaction = { account_id: string; id: string; log: string; folded: string }

/** Writes `data` back as one text. Only if nobody patched in between: a compare-and-set, harmless when it loses. */
export const compactData = async ({ sql }: Sql, { account_id, id, log, folded }: Compaction): Promise<void> => {
  await sql`update agent.spans set data = ${folded} where account_id = ${account_id} and id = ${id} and data = ${log}`
}
