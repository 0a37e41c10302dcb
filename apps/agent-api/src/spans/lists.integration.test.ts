import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>

/** Twelve spans of one trace, four starts of three spans each; every other one has ended, names repeat. */
const SPANS = Array.from({ length: 12 }, (_, index) => ({
  id: `s${`${index}`.padStart(2, '0')}`,
  trace_id: 'trace',
  task_id: index % 3 === 0 ? 'trace' : null,
  name: `name ${index % 2}`,
  start_time: `2026-01-01T10:00:0${index % 4}Z`,
  end_time: index % 2 === 0 ? null : `2026-01-01T11:00:0${index % 3}.000001Z`,
}))

beforeAll(async () => {
  app = await testApp()
  client = await app.client()
  for (const body of SPANS.toReversed()) await client.createSpan({ body })
})
afterAll(() => app[Symbol.asyncDispose]())

const ids = (spans: { id: string }[]) => spans.map(({ id }) => id)
type Query = NonNullable<NonNullable<Parameters<typeof client.listSpans>[0]>['query']>
const list = async (query: Query) => ids(await client.listSpans({ query }))

const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other))

/** What a list should hold, sorted in memory: a running span ends after all others. */
const expected = (by: 'start_time' | 'end_time' | 'name' | 'id', direction: 'asc' | 'desc') => {
  const sorted = SPANS.toSorted(
    (one, other) => compare(one[by] ?? '~', other[by] ?? '~') || compare(one.id, other.id),
  ).map(({ id }) => id)
  return direction === 'asc' ? sorted : sorted.toReversed()
}

describe.each(['start_time', 'end_time', 'name', 'id'] as const)('a list by %s', (order_by) => {
  test.each(['asc', 'desc'] as const)(
    '%s has its ties by id, whole, by page number and by cursor',
    async (order_direction) => {
      const whole = expected(order_by, order_direction)
      for (const filter of [{}, { trace_id: 'trace' }, { task_id: 'trace' }]) {
        const order = { order_by, order_direction, ...filter }
        expect(await list(order)).toEqual(whole)
        const numbered = await Promise.all(
          [1, 2, 3, 4].map((page) => list({ ...order, limit: '5', page_number: `${page}` })),
        )
        expect(numbered.flat()).toEqual(whole)
        for (const [index, starting_after] of whole.entries())
          expect(await list({ ...order, limit: '4', starting_after })).toEqual(whole.slice(index + 1, index + 5))
      }
    },
  )
})

test('order names are taken in any case', async () => {
  const query = { order_by: 'NAME', order_direction: 'ASC' } as unknown as Query
  expect(await list(query)).toEqual(expected('name', 'asc'))
})

test('a page far beyond the end is empty', async () => {
  expect(await list({ page_number: '1000000', limit: '1000' })).toEqual([])
})

test('a cursor that names no span of the account is 422, and so are two ways of paging at once', async () => {
  const other = await app.client()
  await other.createSpan({ body: { id: 'theirs', trace_id: 't', name: 'n', start_time: '2026-01-01' } })
  const status = async (query: Record<string, string>) =>
    (await client.raw({ method: 'get', path: '/spans' }, { query })).status
  expect(await status({ starting_after: 'nobody' })).toBe(422)
  expect(await status({ starting_after: 'theirs' })).toBe(422)
  expect(await status({ starting_after: 's01', page_number: '2' })).toBe(422)
})

test('a page whose payloads would not fit in memory is refused with what to do, and smaller ones work', async () => {
  const big = await app.client()
  const input = { text: 'x'.repeat(3_900_000) }
  for (let index = 0; index < 9; index += 1)
    await big.createSpan({ body: { id: `big${index}`, trace_id: 't', name: 'n', start_time: '2026-01-01', input } })
  const { status, text } = await big.raw({ method: 'get', path: '/spans' })
  expect([status, JSON.parse(text).errors[0].path]).toEqual([422, 'limit'])
  expect(await big.listSpans({ query: { limit: '8' } })).toHaveLength(8)
})
