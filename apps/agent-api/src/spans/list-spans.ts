import type { Database } from '@keelson/database'
import { invalidField } from '@keelson/service-kit'
import type { SpanFacts } from './span-row.ts'

export type SpanQuery = {
  trace_id?: string | undefined
  task_id?: string | undefined
  order_by: 'start_time' | 'end_time' | 'name' | 'id'
  order_direction: 'asc' | 'desc'
  limit: number
  page_number: number
  starting_after?: string | undefined
}

type Row = SpanFacts & { page_bytes: number }

/** A running span ends after all others, whichever way the list runs. */
const ORDER = { start_time: 'start_time', end_time: "coalesce(end_time, 'infinity')", name: 'name', id: 'id' } as const

/** A page with more payload than this is refused: it would have to be held in memory several times. */
const PAGE_PAYLOAD_BYTES = 32 * 1_048_576

const refusePage = (limit: number, bytes: number): never =>
  invalidField(
    'limit',
    `is too large: the payloads of these ${limit} spans weigh ${bytes} bytes, and those of a page at most ${PAGE_PAYLOAD_BYTES}; ask for a smaller limit`,
  )

/**
 * One page of an account's spans in one statement, ties broken by id.
 * @throws ApiError `invalid_request` when `starting_after` names no span of the account
 */
export const listSpans = async (db: Database, account_id: string, query: SpanQuery): Promise<SpanFacts[]> => {
  const { sql } = db
  const { trace_id, task_id, limit, starting_after } = query
  const by = sql.unsafe(ORDER[query.order_by])
  const direction = sql.unsafe(query.order_direction)
  const offset = starting_after === undefined ? (query.page_number - 1) * limit : 0
  const beyond = query.order_direction === 'asc' ? sql`>` : sql`<`
  const after =
    starting_after === undefined
      ? sql``
      : sql`and (${by}, id) ${beyond} (select ${by}, id from agent.spans where account_id = ${account_id} and id = ${starting_after})`
  const inTrace = trace_id === undefined ? sql`` : sql`and trace_id = ${trace_id}`
  const page = (filter: ReturnType<typeof sql>) => sql`
    (select * from agent.spans where account_id = ${account_id} ${inTrace} ${filter} ${after}
     order by ${by} ${direction}, id ${direction} limit ${offset + limit})`

  // A task's spans are also those whose trace is named after it. Two index scans that stop early beat one OR.
  const found =
    task_id === undefined
      ? page(sql``)
      : sql`${page(sql`and task_id = ${task_id}`)}
          union all ${page(sql`and trace_id = ${task_id} and task_id is distinct from ${task_id}`)}`
  const rows = await sql<Row[]>`
    select id, trace_id, parent_id, task_id, name, start_time, end_time, page_bytes,
      case when fits then input end as input, case when fits then output end as output, case when fits then data end as data
    from (
      select *, page_bytes <= ${PAGE_PAYLOAD_BYTES} as fits
      from (
        select *, sum(coalesce(input_bytes, 0) + coalesce(output_bytes, 0) + coalesce(data_bytes, 0)) over () as page_bytes
        from (select * from (${found}) as found order by ${by} ${direction}, id ${direction} limit ${limit} offset ${offset}) as page
      ) as weighed
    ) as page
    order by ${by} ${direction}, id ${direction}`

  const bytes = rows[0]?.page_bytes ?? 0
  if (bytes > PAGE_PAYLOAD_BYTES) refusePage(rows.length, bytes)
  if (rows.length === 0 && starting_after !== undefined) {
    const [cursor] = await sql`select from agent.spans where account_id = ${account_id} and id = ${starting_after}`
    if (!cursor) invalidField('starting_after', 'names no span')
  }
  return rows
}
