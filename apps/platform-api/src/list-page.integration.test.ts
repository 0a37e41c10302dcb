import { testDatabase } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listPage, type ListQuery } from './list-page.ts'

const database = await testDatabase()
const { sql } = database.db
afterAll(() => database[Symbol.asyncDispose]())

type Row = { id: string; name: string }
const idOf = (number: number) => `thing_01${String(number).padStart(24, '0')}`

/** Eight things that share names, under every other id, and a stranger's between them. */
const MINE: Row[] = Array.from({ length: 8 }, (_, index) => ({ id: idOf(2 * index + 1), name: `n${index % 3}` }))
const GONE = Array.from({ length: 8 }, (_, index) => idOf(4 * index))
const THEIRS: Row[] = Array.from({ length: 4 }, (_, index) => ({ id: idOf(4 * index + 2), name: 'n1' }))

beforeAll(async () => {
  await sql`create table public.things (account_id text, id text collate "C", name text collate "C")`
  const rows = [
    ...MINE.map((row) => ({ account_id: 'me', ...row })),
    ...THEIRS.map((row) => ({ account_id: 'they', ...row })),
  ]
  await sql`insert into public.things ${sql(rows)}`
})

const list = (query: ListQuery, filter = sql``) => {
  const where = sql`account_id = 'me' ${filter}`
  const source = { table: 'public.things', columns: ['id', 'name'], where, account_id: 'me', idPrefix: 'thing' }
  return listPage<Row>(sql, source, query)
}

const pageOf = (query: ListQuery, rows: Row[], items: Row[]) => {
  const { limit } = query
  return { items, has_more: rows.length > limit, total: MINE.length, limit, object: 'list' }
}
const REFUSED = expect.objectContaining({ code: 'invalid_request' }) as unknown

/** The same page, found in memory. */
const expected = (query: ListQuery): unknown => {
  const { limit, starting_after, ending_before, sort_by, sort_order } = query
  const placeOf = ({ id, name }: Row) => (sort_by === 'name' ? `${name} ${id}` : id)
  const up = MINE.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  const sorted = sort_order === 'asc' ? up : up.toReversed()
  const cursor = starting_after ?? ending_before
  if (cursor === undefined) return pageOf(query, sorted, sorted.slice(0, limit))
  const named = MINE.find(({ id }) => id === cursor)
  if (named === undefined && sort_by === 'name') return REFUSED
  const place = placeOf(named ?? { id: cursor, name: '' })
  const [smaller, larger] = [sorted.filter((row) => placeOf(row) < place), sorted.filter((row) => placeOf(row) > place)]
  const [before, after] = sort_order === 'asc' ? [smaller, larger] : [larger, smaller]
  if (starting_after !== undefined) return pageOf(query, after, after.slice(0, limit))
  return pageOf(query, before, before.slice(Math.max(0, before.length - limit)))
}

const CURSORS = [...MINE.map(({ id }) => id), ...GONE, ...THEIRS.map(({ id }) => id)]
const ways: Partial<ListQuery>[] = CURSORS.flatMap((id) => [{ starting_after: id }, { ending_before: id }])
const orders = ['created_at', 'name'].flatMap((sort_by) =>
  (['asc', 'desc'] as const).map((sort_order) => ({ sort_by, sort_order })),
)

test.each(orders)('by $sort_by $sort_order, every page holds what a list in memory holds there', async (order) => {
  for (const limit of [1, 3, 8]) {
    for (const way of [{}, ...ways]) {
      const query = { ...order, limit, ...way }
      const page = await list(query).catch((error: unknown) => error)
      expect([query, page]).toEqual([query, expected(query)])
    }
  }
})

test.each(orders)(
  'by $sort_by $sort_order, where nothing matches, the page is empty and the total 0',
  async (order) => {
    const query = { limit: 3, ...order }
    const empty = { items: [], has_more: false, total: 0, limit: 3, object: 'list' }
    expect(await list(query, sql`and name = 'none'`)).toEqual(empty)
  },
)

describe.each(['starting_after', 'ending_before'] as const)('%s', (way) => {
  const suffix = idOf(1).slice('thing_'.length)
  test.each([
    ['of another kind', `cred_${suffix}`],
    ['of a kind with as long a name', `other_${suffix}`],
    ['without its kind', suffix],
    ['that is too short', `thing_${suffix.slice(1)}`],
    ['with more before it', `thing_z${suffix}`],
    ['with more behind it', `thing_${suffix}0`],
    ['that no time has', `thing_8${suffix.slice(1)}`],
    ['in upper case', `thing_${suffix.slice(1)}A`],
  ])('%s is no cursor', async (_name, cursor) => {
    const refused = list({ limit: 3, sort_by: 'created_at', sort_order: 'desc', [way]: cursor })
    const message = 'is no cursor of this list'
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      message: `${way} ${message}`,
      errors: [{ path: way, message }],
    })
  })
})
