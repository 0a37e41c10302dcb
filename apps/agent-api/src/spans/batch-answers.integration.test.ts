import { spans, type SpanBatchResult } from '@keelson/contracts/agent'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const MEBIBYTE = 1_048_576
const HEAVY = { text: 'x'.repeat(3_900_000) }
const END = '2026-01-01T11:00:00Z'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>
beforeAll(async () => {
  app = await testApp()
  client = await app.client()
})
afterAll(() => app[Symbol.asyncDispose]())

const span = (id: string, more: object = {}) => ({
  id,
  name: 'step',
  trace_id: 'trace',
  start_time: '2026-01-01T10:00:00Z',
  ...more,
})

const create = async (count: number, payloads: object): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => crypto.randomUUID())
  for (const id of ids) await client.createSpan({ body: span(id, payloads) })
  return ids
}

const put = async (items: object[]) => {
  const { status, text } = await client.raw(spans.putSpanBatch, { body: { spans: items } })
  expect(status).toBe(200)
  return { bytes: text.length, results: (JSON.parse(text) as { results: SpanBatchResult[] }).results }
}

test('an answer holds at most 16 MiB of what its items did not send, and tells what it leaves out', async () => {
  const ids = await create(7, { input: HEAVY })
  const { bytes, results } = await put(ids.map((id) => ({ id, end_time: END, output: { a: 1 } })))
  expect(bytes).toBeLessThan(16 * MEBIBYTE + 10_000)
  expect(results.map(({ id, status, span: found }) => [id, status, found?.end_time, found?.output])).toEqual(
    ids.map((id) => [id, 200, END, { a: 1 }]),
  )
  const whole = results.filter(({ omitted }) => omitted === undefined)
  expect(whole.length).toBe(4)
  for (const { span: found } of whole) expect(found?.input).toEqual(HEAVY)
  for (const { omitted, span: found } of results.filter((result) => !whole.includes(result)))
    expect([omitted, found?.input, found?.data]).toEqual([['input'], null, null])
  for (const id of ids)
    expect(await client.getSpan({ params: { span_id: id } })).toMatchObject({ end_time: END, input: HEAVY })
})

test('one span a thousand times over is answered within the same bound', async () => {
  const [id] = await create(1, { data: HEAVY })
  const { bytes, results } = await put(Array.from({ length: 1000 }, () => ({ id, end_time: END })))
  expect(bytes).toBeLessThan(17 * MEBIBYTE)
  expect(results.every(({ status }) => status === 200)).toBe(true)
})

test('what an item sent itself is in its answer however heavy, also where it was sent before', async () => {
  const ids = await create(4, { input: HEAVY })
  for (const id of ids) await client.updateSpan({ params: { span_id: id }, body: { output: HEAVY } })
  const items = ids.map((id) => span(id, { input: HEAVY }))
  const { results: created } = await client.createSpanBatch({ body: { spans: items } })
  const { results: changed } = await put(items)
  for (const { status, span: found } of [...created, ...changed]) expect([status, found?.input]).toEqual([200, HEAVY])
})

test('a thousand spans of 8 KiB are answered whole', async () => {
  const payload = { text: 'x'.repeat(8192) }
  const ids = Array.from({ length: 1000 }, () => crypto.randomUUID())
  await put(ids.map((id) => span(id, { input: payload })))
  const { results } = await put(ids.map((id) => ({ id, end_time: END })))
  for (const result of results) {
    expect(result.omitted).toBeUndefined()
    expect(result.span).toMatchObject({ input: payload, end_time: END })
  }
})

test('statements bring nothing heavy along that their writers did not send, and lone ones are answered whole all the same', async () => {
  const ids = await create(6, { input: HEAVY, data: { a: 1 } })
  const write = { trace_id: null, parent_id: null, task_id: null, name: null, start_time: null, end_time: null }
  const writes = ids.map((id) => ({
    account_id: client.account_id,
    id,
    ...write,
    input: null,
    output: '{}',
    data: null,
  }))
  const written = await Promise.all(writes.map((one) => app.spanWriter.put(one)))
  for (const row of written)
    expect([row?.input, row?.output, row?.stored]).toEqual([
      null,
      '{}',
      { payloads: ['input', 'data'], bytes: JSON.stringify(HEAVY).length + 7, isRead: false },
    ])
  const body = { data: { b: 2 } }
  const patched = await Promise.all(ids.map((id) => client.updateSpan({ params: { span_id: id }, body })))
  for (const found of patched) expect(found).toMatchObject({ input: HEAVY, output: {}, data: { a: 1, b: 2 } })
})
