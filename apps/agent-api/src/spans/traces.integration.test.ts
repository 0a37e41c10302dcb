import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>
beforeAll(async () => {
  app = await testApp()
  client = await app.client()
})
afterAll(() => app[Symbol.asyncDispose]())

const time = (second: number) => `2026-01-01T10:00:${`${second}`.padStart(2, '0')}Z`
const span = (id: string, second: number, more: object = {}) => ({
  id,
  name: id,
  trace_id: 'tree',
  start_time: time(second),
  ...more,
})
const getTrace = (trace_id: string, query: object = {}) => client.getTrace({ params: { trace_id }, query })
const raw = (trace_id: string, query: Record<string, string> = {}) =>
  client.raw({ method: 'get', path: '/traces/{trace_id}' }, { params: { trace_id }, query })

/** Spans straight into the table, for traces larger than requests should make. */
const fill = (trace_id: string, count: number, { bytes = 0, name = 'step' } = {}) => app.db.sql`
  insert into agent.spans (account_id, id, trace_id, name, start_time, end_time, input)
  select ${client.account_id}, ${trace_id} || '-' || to_char(n, 'FM000000'), ${trace_id}, ${name},
    timestamptz '2026-01-01' + n / 10 * interval '1 ms', '2026-01-02', '{' || repeat(' ', ${bytes}::int - 2) || '}'
  from generate_series(1, ${count}::int) as n`

describe('a trace', () => {
  test('is its spans by start and id, children before their parents included, with sizes instead of payloads', async () => {
    const input = { text: 'é' }
    await client.createSpan({ body: span('child', 2, { parent_id: 'root', input, end_time: time(9) }) })
    await client.createSpan({ body: span('orphan', 2, { parent_id: 'never sent', output: [] }) })
    await client.createSpan({ body: span('root', 1, { end_time: time(5), data: {} }) })
    const trace = await getTrace('tree')
    expect(trace).toMatchObject({ span_count: 3, start_time: time(1), end_time: null, has_more: false })
    expect(trace.spans.map(({ id, parent_id }) => [id, parent_id])).toEqual([
      ['root', null],
      ['child', 'root'],
      ['orphan', 'never sent'],
    ])
    expect(
      trace.spans.map(({ input_bytes, output_bytes, data_bytes }) => [input_bytes, output_bytes, data_bytes]),
    ).toEqual([
      [null, null, 2],
      [Buffer.byteLength(JSON.stringify(input)), null, null],
      [null, 2, null],
    ])
    expect(trace.spans[1]).not.toHaveProperty('input')
    await client.updateSpan({ params: { span_id: 'orphan' }, body: { end_time: time(7) } })
    expect((await getTrace('tree')).end_time).toBe(time(9))
  })

  test('has its payloads when they are asked for', async () => {
    await client.createSpan({ body: span('whole', 1, { trace_id: 'whole', input: { a: 1 }, data: { a: 1 } }) })
    await client.updateSpan({ params: { span_id: 'whole' }, body: { data: { b: 2 } } })
    const { spans } = await getTrace('whole', { include: 'payload' })
    expect(spans[0]).toMatchObject({ input: { a: 1 }, output: null, data: { a: 1, b: 2 } })
    expect(spans[0]?.data_bytes).toBe('{"a":1,"b":2}'.length)
  })

  test('never shows more or fewer spans than it counts while others are written', async () => {
    const over = new AbortController()
    const write = async (writer: number) => {
      for (let n = 0; !over.signal.aborted; n += 1)
        await client.createSpan({ body: span(`${writer}-${n}`, 1, { trace_id: 'busy' }) })
    }
    const writing = [1, 2, 3].map(write)
    await client.createSpan({ body: span('first', 0, { trace_id: 'busy' }) })
    for (let read = 0; read < 60; read += 1) {
      const { span_count, spans, has_more } = await getTrace('busy')
      expect([spans.length, has_more]).toEqual([span_count, false])
      const page = await getTrace('busy', { limit: 1 })
      expect(page.span_count).toBeGreaterThanOrEqual(span_count)
    }
    over.abort()
    await Promise.all(writing)
  })

  test('of a hundred thousand spans comes in pages that hold each span once', async () => {
    await fill('large', 100_000)
    const seen: string[] = []
    for (let query: object = {}, more = true; more;) {
      const page = await getTrace('large', query)
      expect(page.span_count).toBe(100_000)
      expect(page.spans).toHaveLength(Math.min(30_000, 100_000 - seen.length))
      seen.push(...page.spans.map(({ id }) => id))
      query = { starting_after: seen.at(-1) }
      more = page.has_more
    }
    expect(seen).toHaveLength(100_000)
    expect(seen).toEqual(seen.toSorted())
  })

  test.each([
    ['heavy', 7, 5, [3, 3, 1]],
    ['heavier', 2, 17, [1, 1]],
  ])(
    '%s comes with payloads in pages of at most 16 MiB, and one span at least',
    async (trace_id, count, MiB, pages) => {
      await fill(trace_id, count, { bytes: MiB * 1_048_576 })
      const counts: number[] = []
      for (let query: object = {}, more = true; more;) {
        const page = await getTrace(trace_id, { include: 'payload', ...query })
        counts.push(page.spans.length)
        query = { starting_after: page.spans.at(-1)?.id }
        more = page.has_more
      }
      expect(counts).toEqual(pages)
    },
  )

  test.each([
    ['without payloads', {}],
    ['with small payloads', { include: 'payload' }],
  ])('of long names %s comes in pages of 16 MiB that hold each span once', async (_, include) => {
    const [trace_id, count] = [`long names ${Object.keys(include).length}`, 9000]
    await fill(trace_id, count, { bytes: 2, name: 'n'.repeat(4096) })
    const seen: string[] = []
    const pages: number[] = []
    for (let query: Record<string, string> = include, more = true; more;) {
      const { text } = await raw(trace_id, query)
      expect(text.length).toBeLessThan(17 * 1_048_576)
      const page = JSON.parse(text) as Awaited<ReturnType<typeof getTrace>>
      expect(page.span_count).toBe(count)
      pages.push(page.spans.length)
      seen.push(...page.spans.map(({ id }) => id))
      query = { ...include, starting_after: seen.at(-1)! }
      more = page.has_more
    }
    expect(pages).toEqual([pages[0], pages[0], expect.toSatisfy((last: number) => last > 0)])
    expect(seen).toHaveLength(count)
    expect(seen).toEqual(seen.toSorted())
  })

  test('without spans is 404, of another account too; a cursor of another trace is 422', async () => {
    const other = await app.client()
    await other.createSpan({ body: span('theirs', 1, { trace_id: 'their trace' }) })
    expect((await raw('their trace')).status).toBe(404)
    expect((await raw('nobody')).status).toBe(404)
    expect((await raw('tree', { starting_after: 'whole' })).status).toBe(422)
    expect((await raw('tree', { limit: '50001' })).status).toBe(422)
    expect((await raw('tree', { include: 'everything' })).status).toBe(422)
  })
})

describe('limits', () => {
  const create = (more: object) => client.raw({ method: 'post', path: '/spans' }, { body: span('limits', 1, more) })

  test.each([
    ['a body above 4 MiB', { input: { text: 'x'.repeat(4 * 1_048_576) } }, 413],
    ['a name of 4097 bytes', { name: 'é'.repeat(2048) + 'x' }, 422],
    ['an id of 256 bytes', { id: 'x'.repeat(256) }, 422],
    ['an empty id', { id: '' }, 422],
    ['a trace_id of 256 bytes', { trace_id: 'é'.repeat(128) }, 422],
    ['a parent_id of 256 bytes', { parent_id: 'x'.repeat(256) }, 422],
    ['a task_id of 256 bytes', { task_id: 'x'.repeat(256) }, 422],
    ['a NUL in a name', { name: 'a\0b' }, 422],
    ['half a surrogate pair in a name', { name: 'a\ud800' }, 422],
    ['a number as input', { input: 1 }, 422],
    ['a list of numbers as data', { data: [1] }, 422],
    ['a time that is no day', { start_time: '2026-02-30' }, 422],
    ['a time beyond the calendar', { end_time: '10000-01-01' }, 422],
  ])('%s is %3$i', async (_, more, status) => {
    expect((await create(more)).status).toBe(status)
  })

  test('the largest of everything works', async () => {
    const name = 'é'.repeat(2048)
    const body = { id: 'x'.repeat(255), name, parent_id: 'é'.repeat(127), input: { text: 'x'.repeat(4_180_000) } }
    expect((await create(body)).status).toBe(200)
    expect((await client.getSpan({ params: { span_id: body.id } })).input).toEqual(body.input)
  })

  test('JSON nested 128 deep works, one level more is refused, and very deep JSON does no harm', async () => {
    const nested = (depth: number) =>
      `{"name":"n","trace_id":"t","start_time":"2026-01-01","input":{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}}`
    const status = async (depth: number) =>
      (await client.raw({ method: 'post', path: '/spans' }, { text: nested(depth) })).status
    expect(await Promise.all([128, 129, 100_000].map(status))).toEqual([200, 422, 422])
  })

  test('data that patches would grow beyond 16 MiB is 413 and stays; what replaces does not grow it', async () => {
    const patch = async (data: object) =>
      (
        await client.raw(
          { method: 'patch', path: '/spans/{span_id}' },
          { params: { span_id: 'grown' }, body: { data } },
        )
      ).status
    const grown = async () => (await client.getSpan({ params: { span_id: 'grown' } })).data
    await client.createSpan({ body: span('grown', 1, { data: {} }) })
    const text = 'x'.repeat(3_500_000)
    const statuses: number[] = []
    for (const key of ['a', 'a', 'a', 'b', 'b', 'c', 'd', 'd', 'e']) statuses.push(await patch({ [key]: text }))
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 413])
    expect(Object.keys((await grown()) ?? {})).toEqual(['a', 'b', 'c', 'd'])
    const small = 'y'.repeat(300_000)
    const together = await Promise.all(Array.from({ length: 12 }, () => patch({ e: small })))
    expect(together).toEqual(together.map(() => 200))
    expect(await grown()).toMatchObject({ d: text, e: small })
    expect(await patch([{ only: text }] as object)).toBe(200)
    expect(await grown()).toEqual([{ only: text }])
  })
})
