import type { Trace, TraceSpan } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { invalidField, notFound } from '@keelson/service-kit'
import { presentPayloads, type SpanFacts } from './span-row.ts'

export type TraceQuery = { include?: 'payload' | undefined; limit: number; starting_after?: string | undefined }

type Sizes = { input_bytes: number | null; output_bytes: number | null; data_bytes: number | null }
type Row = Omit<SpanFacts, 'trace_id'> & Sizes & { page_rows?: number }
type Summary = { span_count: number; start_time: string | null; end_time: string | null; cursor_known: boolean }

/** A page weighs no more than this, but always holds one span. */
const PAGE_BYTES = 16 * 1_048_576

/** What a span weighs in an answer beside its texts: names of fields, times and numbers. */
const SPAN_BYTES = 220

const LIGHT = [
  'id',
  'name',
  'start_time',
  'end_time',
  'parent_id',
  'task_id',
  'input_bytes',
  'output_bytes',
  'data_bytes',
] as const
const WHOLE = [...LIGHT, 'input', 'output', 'data'] as const

const laterOf = (one: string, other: string): string => (one.slice(0, -1) >= other.slice(0, -1) ? one : other)

/** Of all spans of a trace, in order. */
const summaryOf = (rows: readonly Row[]): Summary => {
  const ends = rows.flatMap(({ end_time }) => end_time ?? [])
  return {
    span_count: rows.length,
    start_time: rows[0]?.start_time ?? null,
    end_time: ends.length === rows.length ? ends.reduce(laterOf, '') : null,
    cursor_known: true,
  }
}

type Place = { account_id: string; trace_id: string; starting_after: string | undefined }

const readSummary = async (sql: Database['sql'], place: Place): Promise<Summary> => {
  const { account_id, trace_id, starting_after } = place
  const [summary] = await sql<[Summary]>`
    select count(*)::int as span_count, min(start_time) as start_time,
      case when bool_and(end_time is not null) then max(end_time) end as end_time,
      ${starting_after === undefined ? sql`true` : sql`bool_or(id = ${starting_after})`} as cursor_known
    from agent.spans where account_id = ${account_id} and trace_id = ${trace_id}`
  return summary
}

/** The spans of a page in order, and whether others follow them. */
const readPage = async (sql: Database['sql'], place: Place, { limit, include }: TraceQuery) => {
  const { account_id, trace_id, starting_after } = place
  const withPayload = include === 'payload'
  const ofTrace = sql`account_id = ${account_id} and trace_id = ${trace_id}`
  const after =
    starting_after === undefined
      ? sql``
      : sql`and (start_time, id) > (select start_time, id from agent.spans where ${ofTrace} and id = ${starting_after})`
  const page = sql`
    select ${sql(withPayload ? WHOLE : LIGHT)} from agent.spans where ${ofTrace} ${after} order by start_time, id limit ${limit + 1}`
  const texts = sql`octet_length(id) + octet_length(name) + coalesce(octet_length(parent_id), 0) + coalesce(octet_length(task_id), 0)`
  const payloads = sql`coalesce(input_bytes, 0) + coalesce(output_bytes, 0) + coalesce(data_bytes, 0)`
  const bytes = sql`${SPAN_BYTES}::int + ${texts} + ${withPayload ? payloads : sql`0`}`

  // The usual page is light as a whole: to see that costs a tenth of what it costs to weigh each span.
  const asWhole = sql<Row[]>`
    select * from (${page}) as page where (select sum(${bytes}) from (${page}) as page) < ${PAGE_BYTES} order by start_time, id`
  const bounded = sql<Row[]>`
    select * from (
      select *, count(*) over ()::int as page_rows,
        row_number() over (order by start_time, id) as place,
        sum(${bytes}) over (order by start_time, id rows unbounded preceding) as bytes_so_far
      from (${page}) as page) as page
    where place = 1 or bytes_so_far <= ${PAGE_BYTES} order by start_time, id`
  const found = withPayload ? [] : await asWhole
  const rows = found.length > 0 ? found : await bounded
  const items = rows.slice(0, limit)
  return { items, has_more: (rows[0]?.page_rows ?? rows.length) > items.length }
}

/**
 * A page of a trace and what is known of the whole of it; without payloads unless they are asked for.
 *
 * @throws ApiError `not_found` for a trace without spans, `invalid_request` for a cursor that is not of the trace
 */
export const readTrace = async (
  { sql }: Pick<Database, 'sql'>,
  account_id: string,
  trace_id: string,
  query: TraceQuery,
): Promise<Trace> => {
  const { starting_after } = query
  const place = { account_id, trace_id, starting_after }
  const { items, has_more } = await readPage(sql, place, query)
  // What was read at once is told by what was read; the rest is counted after it, so never as less than is shown.
  const isWhole = starting_after === undefined && !has_more
  const whole = isWhole ? summaryOf(items) : await readSummary(sql, place)
  if (whole.start_time === null) return notFound('trace')
  if (!whole.cursor_known) invalidField('starting_after', 'names no span of the trace')
  return {
    trace_id,
    span_count: whole.span_count,
    start_time: whole.start_time,
    end_time: whole.end_time,
    spans: items.map((row) => presentTraceSpan(row, query.include === 'payload')),
    has_more,
  }
}

const presentTraceSpan = (row: Row, withPayload: boolean): TraceSpan => {
  const payloads = withPayload && presentPayloads(row)
  const data_bytes = payloads && payloads.data ? Buffer.byteLength(payloads.data.text) : row.data_bytes
  return {
    id: row.id,
    name: row.name,
    start_time: row.start_time,
    end_time: row.end_time,
    parent_id: row.parent_id,
    task_id: row.task_id,
    input_bytes: row.input_bytes,
    output_bytes: row.output_bytes,
    data_bytes,
    ...payloads,
  }
}
