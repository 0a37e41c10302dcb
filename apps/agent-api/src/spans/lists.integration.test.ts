import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>

/** Twelve spans of two traces, four starts of three spans each; every other one has ended, names and tasks repeat. */
const SPANS = Array.from({ length: 12 }, (_, index) => ({
  id: `s${`${index}`.padStart(2, '0')}`,
  trace_id: index < 8 ? 'trace' : 'other',
  task_id: [null, 'trace', 'other'][index % 3] ?? null,
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

const refusal = async ({ raw }: typeof client, query: Record<string, string>): Promise<unknown> => {
  const { status, text } = await raw({ method: 'get', path: '/spans' }, { query })
  return { status, ...JSON.parse(text) }
}

const ids = (spans: { id: string }[]) => spans.map(({ id }) => id)
type Query = NonNullable<NonNullable<Parameters<typeof client.listSpans>[0]>['query']>
const list = async (query: Query) => ids(await client.listSpans({ query }))

const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other))

type Filter = { trace_id?: string; task_id?: string }
const FILTERS: Filter[] = [{}, { trace_id: 'trace' }, { task_id: 'other' }, { trace_id: 'trace', task_id: 'other' }]

/** What a list should hold, found in memory: a running span ends after all others, a trace is of the task it is named after. */
const expected = (
  by: 'start_time' | 'end_time' | 'name' | 'id',
  direction: 'asc' | 'desc',
  { trace_id, task_id }: Filter = {},
) => {
  const found = SPANS.filter(
    (span) =>
      (trace_id === undefined || span.trace_id === trace_id) &&
      (task_id === undefined || span.task_id === task_id || span.trace_id === task_id),
  )
  const sorted = found
    .toSorted((one, other) => compare(one[by] ?? '~', other[by] ?? '~') || compare(one.id, other.id))
    .map(({ id }) => id)
  return direction === 'asc' ? sorted : sorted.toReversed()
}

describe.each(['start_time', 'end_time', 'name', 'id'] as const)('a list by %s', (order_by) => {
  test.each(['asc', 'desc'] as const)(
    '%s has its ties by id, whole, by page number and by cursor',
    async (order_direction) => {
      for (const filter of FILTERS) {
        const whole = expected(order_by, order_direction, filter)
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
  const unknown = {
    status: 422,
    detail: 'starting_after names no span',
    errors: [{ path: 'starting_after', message: 'names no span' }],
  }
  expect(await refusal(client, { starting_after: 'nobody' })).toMatchObject(unknown)
  expect(await refusal(client, { starting_after: 'theirs' })).toMatchObject(unknown)
  expect(await refusal(client, { starting_after: 's01', page_number: '2' })).toMatchObject({ status: 422 })
})

test('a page holds 32 MiB of payload, and a larger one is refused with what to do', async () => {
  const big = await app.client()
  const add = (id: string, bytes: number) => {
    const input = { text: 'x'.repeat(bytes - '{"text":""}'.length) }
    return big.createSpan({ body: { id, trace_id: 't', name: 'n', start_time: '2026-01-01', input } })
  }
  const [limit, most] = [9, 32 * 1_048_576]
  for (let index = 1; index < limit; index += 1) await add(`big${index}`, 3_900_000)
  await add(`big${limit}`, most - (limit - 1) * 3_900_000)
  expect(await big.listSpans({})).toHaveLength(limit)
  await add('one too many', 100)
  const message = `is too large: the payloads of these 10 spans weigh ${most + 100} bytes, and those of a page at most ${most}; ask for a smaller limit`
  expect(await refusal(big, {})).toMatchObject({
    status: 422,
    detail: `limit ${message}`,
    errors: [{ path: 'limit', message }],
  })
})
