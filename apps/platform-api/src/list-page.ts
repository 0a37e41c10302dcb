import type { Database } from '@keelson/database'
import type postgres from 'postgres'
import { invalidField } from '@keelson/service-kit'

export type ListQuery = {
  limit: number
  starting_after?: string | undefined
  ending_before?: string | undefined
  sort_by: string
  sort_order: 'asc' | 'desc'
}

type Sql = Database['sql']
type Fragment = postgres.PendingQuery<postgres.Row[]>

export type ListSource = {
  /** The table, schema included. */
  table: string
  columns: readonly string[]
  /** Lists only what has this name. */
  name?: string | undefined
  /** Which rows are listed: the account and the filters; begins with no keyword. */
  where: Fragment
  account_id: string
  /** What the ids of this table begin with. */
  idPrefix: string
}

export type Page<Row> = { items: Row[]; has_more: boolean; total: number; limit: number; object: 'list' }

const TYPE_ID_SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

const badCursor = (path: string): never => invalidField(path, 'is no cursor of this list')

const checkCursor = (path: string, cursor: string, idPrefix: string): void => {
  if (!cursor.startsWith(`${idPrefix}_`) || !TYPE_ID_SUFFIX.test(cursor.slice(idPrefix.length + 1))) badCursor(path)
}

/** Rows of one name come from a query of their own, in the order of an index that no other has: see `DECISIONS.md`. */
const rowsOf = (sql: Sql, { table, account_id, name }: ListSource) =>
  name === undefined
    ? sql(table)
    : sql`(
        select * from ${sql(table)}
        where account_id = ${account_id} and name between ${name} and ${name} order by name) as named`

const withoutTotal = <Row>({ total: _total, ...row }: Row & { total: number }) => row as unknown as Row

/**
 * One page of a list and the count of all it matches, in one statement. Ids grow with time, so the default order is
 * theirs, and a cursor means its place there even when its row is gone.
 *
 * @throws ApiError `invalid_request` when the cursor is no id of this kind, or names no row where the order needs one
 */
export const listPage = async <Row extends { id: string }>(
  sql: Sql,
  source: ListSource,
  query: ListQuery,
): Promise<Page<Row>> => {
  const { limit, starting_after, ending_before, sort_by } = query
  const isBackwards = ending_before !== undefined
  const cursor = ending_before ?? starting_after
  const cursorPath = isBackwards ? 'ending_before' : 'starting_after'
  if (cursor !== undefined) checkCursor(cursorPath, cursor, source.idPrefix)

  const runsUp = (query.sort_order === 'asc') !== isBackwards
  const byTime = sort_by === 'created_at'
  const table = sql(source.table)
  const rows = rowsOf(sql, source)
  const key = byTime ? sql`id` : sql`(${sql(sort_by)}, id)`
  const direction = runsUp ? sql`asc` : sql`desc`
  const order = byTime ? sql`id ${direction}` : sql`${sql(sort_by)} ${direction}, id ${direction}`
  const place = byTime
    ? sql`${cursor ?? null}`
    : sql`(select ${sql(sort_by)}, id from ${table} where account_id = ${source.account_id} and id = ${cursor ?? null})`
  const beyond = cursor === undefined ? sql`` : sql`and ${key} ${runsUp ? sql`>` : sql`<`} ${place}`

  const read = await sql<(Row & { total: number })[]>`
    with page as (
      select ${sql(source.columns)} from ${rows} where ${source.where} ${beyond} order by ${order} limit ${limit + 1}
    )
    select page.*, counted.total
    from (select count(*)::int as total from ${rows} where ${source.where}) as counted
    left join page on true`
  const total = read[0]?.total ?? 0
  const found = read.filter(({ id }) => id !== null)
  if (found.length === 0 && cursor !== undefined && !byTime) {
    const [known] = await sql`select from ${table} where account_id = ${source.account_id} and id = ${cursor}`
    if (!known) badCursor(cursorPath)
  }
  const items = found.slice(0, limit).map(withoutTotal)
  return {
    items: isBackwards ? items.toReversed() : items,
    has_more: found.length > limit,
    total,
    limit,
    object: 'list',
  }
}
