import { agentRoutes, spans, type SpanBatchResult } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { createMetrics, type Service } from '@keelson/service-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../app.ts'
import { testApp } from '../test-app.fixture.ts'
import { spanWriter } from './span-writer.ts'

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

const outcomes = ({ results }: { results: { index: number; id: string | null; status: number }[] }) =>
  results.map(({ index, id, status }) => [index, id, status])

describe.each(['createSpanBatch', 'putSpanBatch'] as const)('%s', (operation) => {
  const id = (name: string) => `${operation} ${name}`

  test('answers every item in order, and a bad one sinks no other', async () => {
    const items = [
      span(id('good')),
      span(id('no name'), { name: undefined }),
      span(id('ends early'), { end_time: '2025-01-01' }),
      span(id('nul \0')),
      span(id('text'), { input: 'not an object' }),
      'nonsense',
      null,
      span(id('deep'), { input: JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object }),
      span(id('large'), { input: { text: 'x'.repeat(4_200_000) } }),
      span(id('last'), { data: { text: '\u0000\ud800' } }),
    ]
    const answer = await client[operation]({ body: { spans: items } })
    const noName = operation === 'createSpanBatch' ? 422 : 404
    expect(answer.results.map(({ index }) => index)).toEqual(items.map((_, index) => index))
    expect(answer.results.map(({ status }) => status)).toEqual([200, noName, 422, 422, 422, 422, 422, 422, 413, 200])
    const named = ['good', 'no name', 'ends early', 'nul \0', 'text', null, null, 'deep', 'large', 'last']
    expect(answer.results.map((result) => result.id)).toEqual(named.map((name) => name && id(name)))
    for (const { span, problem, status } of answer.results)
      expect([span !== null, problem?.status]).toEqual(status === 200 ? [true, undefined] : [false, status])
    expect(await client.getSpan({ params: { span_id: id('last') } })).toMatchObject({ data: { text: '\u0000\ud800' } })
  })

  test('no items are no results, a thousand are fine, one more is 422', async () => {
    expect(await client[operation]({ body: { spans: [] } })).toEqual({ results: [] })
    const items = Array.from({ length: 1001 }, (_, index) => span(id(`thousand ${index}`)))
    const { results } = await client[operation]({ body: { spans: items.slice(0, 1000) } })
    expect(results.every(({ status }) => status === 200)).toBe(true)
    expect((await client.raw(spans[operation], { body: { spans: items } })).status).toBe(422)
  })

  test('sixteen MiB are too many', async () => {
    const text = JSON.stringify({ spans: [], padding: 'x'.repeat(16 * 1_048_576) })
    expect((await client.raw(spans[operation], { text })).status).toBe(413)
  })

  test('another account meets neither the spans nor their ids', async () => {
    const other = await app.client()
    const body = { spans: [span(id('mine'), { name: 'mine' })] }
    await client[operation]({ body })
    const theirs = { spans: [span(id('mine'), { name: 'theirs' })] }
    expect((await other[operation]({ body: theirs })).results[0]?.span?.name).toBe('theirs')
    expect((await client.getSpan({ params: { span_id: id('mine') } })).name).toBe('mine')
  })
})

test('a span is never its own parent, by whichever operation', async () => {
  const { id } = await client.createSpan({ body: span('no parent') })
  const own = { id: 'own', parent_id: 'own' }
  const wrong = { path: 'parent_id', message: 'must not be the span itself' }
  for (const operation of ['createSpanBatch', 'putSpanBatch'] as const) {
    const { results } = await client[operation]({ body: { spans: [span('own', own)] } })
    expect(results[0]?.problem).toMatchObject({ status: 422, errors: [wrong] })
  }
  const alone = await Promise.all([
    client.raw(spans.createSpan, { body: span('own', own) }),
    client.raw(spans.updateSpan, { params: { span_id: id }, body: { parent_id: id } }),
  ])
  for (const { status, text } of alone) expect([status, JSON.parse(text)]).toMatchObject([422, { errors: [wrong] }])
  expect((await client.raw(spans.getSpan, { params: { span_id: 'own' } })).status).toBe(404)
})

describe('a repeated id', () => {
  test('folds when created: agreeing items add up, a contradiction is 409 and changes nothing', async () => {
    const items = [
      span('folded', { input: { a: 1 } }),
      span('folded', { output: { b: 2 } }),
      span('folded', { input: { a: 2 } }),
    ]
    expect(outcomes(await client.createSpanBatch({ body: { spans: items } }))).toEqual([
      [0, 'folded', 200],
      [1, 'folded', 200],
      [2, 'folded', 409],
    ])
    const stored = await client.getSpan({ params: { span_id: 'folded' } })
    expect(stored).toMatchObject({ input: { a: 1 }, output: { b: 2 } })
  })

  test('folds when put: the last one wins, what it leaves out stays', async () => {
    const items = [
      span('put', { input: { a: 1 }, data: { a: 1 } }),
      { id: 'put', input: { a: 2 }, data: { b: 2 } },
      { id: 'put', end_time: '2026-01-01T11:00:00Z' },
    ]
    const { results } = await client.putSpanBatch({ body: { spans: items } })
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await client.getSpan({ params: { span_id: 'put' } })).toMatchObject({
      input: { a: 2 },
      data: { b: 2 },
      end_time: '2026-01-01T11:00:00Z',
    })
  })

  test('folds when put in any order: what says too little to make a span waits for what makes it', async () => {
    const late = { id: 'made', end_time: '2026-01-01T11:00:00Z', output: { early: true }, data: { a: 1 } }
    const items = [
      { id: 'made', name: 'first name', start_time: '2026-01-01T10:00:00Z' },
      late,
      { id: 'never made', output: { lost: true } },
      { id: 'made', trace_id: 'trace', name: 'step', data: { b: 2 } },
      { id: 'made', input: { a: 1 } },
    ]
    const { results } = await client.putSpanBatch({ body: { spans: items } })
    expect(results.map(({ status, problem }) => [status, problem?.code])).toEqual([
      [200, undefined],
      [200, undefined],
      [404, 'not_found'],
      [200, undefined],
      [200, undefined],
    ])
    const made = { name: 'step', end_time: late.end_time, input: { a: 1 }, output: late.output, data: { b: 2 } }
    expect(await client.getSpan({ params: { span_id: 'made' } })).toMatchObject(made)
    expect(results[0]).toMatchObject({ span: { name: 'step', output: null }, omitted: ['input', 'output', 'data'] })
  })

  test('what would make a later item end before it starts is not folded into it', async () => {
    const items = [{ id: 'early', end_time: '2025-01-01' }, span('early', { end_time: null })]
    const { results } = await client.putSpanBatch({ body: { spans: items } })
    expect(results.map(({ status }) => status)).toEqual([404, 200])
    expect((await client.getSpan({ params: { span_id: 'early' } })).end_time).toBeNull()
  })

  test('a completed span stays completed when an earlier state is put again', async () => {
    await client.putSpanBatch({ body: { spans: [span('done', { end_time: '2026-01-01T11:00:00Z' })] } })
    await client.putSpanBatch({ body: { spans: [span('done', { end_time: null })] } })
    expect((await client.getSpan({ params: { span_id: 'done' } })).end_time).toBe('2026-01-01T11:00:00Z')
  })

  test('many batches of the same spans at once, in any order, neither deadlock nor lose one', async () => {
    const items = Array.from({ length: 100 }, (_, index) => span(`same ${index}`))
    const batches = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? items : items.toReversed()))
    const answers = await Promise.all(
      batches.map((spans, index) => client[index % 3 === 0 ? 'createSpanBatch' : 'putSpanBatch']({ body: { spans } })),
    )
    expect(answers.flatMap(({ results }) => results).every(({ status }) => status === 200)).toBe(true)
  })
})

describe('items that were shed', () => {
  const overloadedApp = (maxQueuedBytes: number) =>
    createApp({ ...app, metrics: createMetrics(), spanWriter: spanWriter(app.db, { maxQueuedBytes }) })
  const send = (service: Service, ids: readonly string[], headers = {}) =>
    createClient(agentRoutes, { fetch: service.fetch, headers: { ...client.headers, ...headers } }).raw(
      spans.createSpanBatch,
      { body: { spans: ids.map((id) => span(id)) } },
    )

  test('are 503 each, and the head of the answer says so too; sent again they succeed, also under the same Idempotency-Key', async () => {
    const ids = ['shed 1', 'shed 2', 'shed 3', 'shed 4']
    const headers = { 'idempotency-key': 'shed-once' }
    const answer = await send(overloadedApp(7500), ids, headers)
    const { results } = JSON.parse(answer.text) as { results: SpanBatchResult[] }
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([200, '1'])
    expect(results.map(({ status, problem }) => [status, problem?.code])).toEqual([
      [200, undefined],
      [200, undefined],
      [503, 'unavailable'],
      [503, 'unavailable'],
    ])
    const again = await send(app.service, ids, headers)
    expect([again.status, again.headers.get('retry-after')]).toEqual([200, null])
    expect(
      outcomes(JSON.parse(again.text) as { results: SpanBatchResult[] }).every(([, , status]) => status === 200),
    ).toBe(true)
  })

  test('make the whole batch 503 when there is no other', async () => {
    const answer = await send(overloadedApp(100), ['shed 5', 'shed 6'])
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await client.raw(spans.getSpan, { params: { span_id: 'shed 5' } })).status).toBe(404)
  })
})
