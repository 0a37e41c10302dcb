import { ProblemError } from '@keelson/contracts/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>

beforeAll(async () => {
  app = await testApp()
  client = await app.client()
})
afterAll(() => app[Symbol.asyncDispose]())

const START = '2026-01-01T10:00:00Z'
const span = <More extends object>(trace_id: string, more?: More) => ({
  name: 'step',
  trace_id,
  start_time: START,
  ...(more as More),
})

const problem = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ProblemError)
  const { status, problem } = error as ProblemError
  return { status, code: problem.code, errors: problem.errors }
}

describe('create', () => {
  test('a span without an id gets one and can be read back with every field', async () => {
    const body = span('t1', { task_id: 'task', input: { q: 1 }, output: [{ a: 1 }], metadata: { unknown: true } })
    const created = await client.createSpan({ body })
    expect(created).toMatchObject({ trace_id: 't1', task_id: 'task', parent_id: null, end_time: null, data: null })
    expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    expect(await client.getSpan({ params: { span_id: created.id } })).toEqual(created)
  })

  test('explicit nulls mean not given', async () => {
    const nothing = { id: null, data: null, end_time: null, input: null, output: null, parent_id: null, task_id: null }
    expect(await client.createSpan({ body: span('t1', nothing) })).toMatchObject({ task_id: null, input: null })
  })

  test('times keep microseconds and come back as UTC with no fraction or six digits', async () => {
    const body = span('t1', { start_time: '2026-01-01T10:00:00.123456789+02:00', end_time: '2026-01-02' })
    const created = await client.createSpan({ body })
    expect(created).toMatchObject({ start_time: '2026-01-01T08:00:00.123456Z', end_time: '2026-01-02T00:00:00Z' })
    expect(await client.getSpan({ params: { span_id: created.id } })).toEqual(created)
  })

  test('the same again answers with the span as it is now', async () => {
    const body = span('t1', { id: 'again', input: { a: 1 } })
    const first = await client.createSpan({ body })
    expect(await client.createSpan({ body })).toEqual(first)
    const ended = await client.createSpan({ body: { ...body, end_time: '2026-01-01T11:00:00Z', output: { b: 2 } } })
    expect(ended).toMatchObject({ input: { a: 1 }, output: { b: 2 }, end_time: '2026-01-01T11:00:00Z' })
    expect(await client.createSpan({ body })).toEqual(ended)
  })

  test.each([
    ['name', { name: 'other' }],
    ['trace_id', { trace_id: 'other' }],
    ['start_time', { start_time: '2026-01-01T10:00:01Z' }],
    ['input', { input: { a: 2 } }],
    ['task_id', { task_id: 'other' }],
  ])('a %s that contradicts the stored one is 409 span_exists and changes nothing', async (field, change) => {
    const body = span('t1', { id: `contradicted ${field}`, input: { a: 1 }, task_id: 'task' })
    const stored = await client.createSpan({ body })
    expect(await problem(client.createSpan({ body: { ...body, ...change } }))).toMatchObject({
      status: 409,
      code: 'span_exists',
    })
    expect(await client.getSpan({ params: { span_id: stored.id } })).toEqual(stored)
  })

  const send = async (method: string, path: string, body: string | null = null) => {
    const headers = { ...client.headers, 'content-type': 'application/json' }
    const response = await app.service.fetch(new Request(`http://x${path}`, { method, headers, body }))
    return { status: response.status, text: await response.text() }
  }

  test('white space, the order of members and patches that were merged make no other facts', async () => {
    const of = (data: string) => `{"id":"spaced","trace_id":"t1","name":"n","start_time":"${START}","data":${data}}`
    expect((await send('POST', '/spans', of('{"a": 1, "b": [1, 2]}'))).status).toBe(200)
    expect((await send('PATCH', '/spans/spaced', '{"data":{}}')).text).toContain('"data":{"a": 1, "b": [1, 2]}')
    expect((await send('PATCH', '/spans/spaced', '{"data":{"a":1}}')).text).toContain('"data":{"a": 1, "b": [1, 2]}')
    for (const data of ['{"a": 1, "b": [1, 2]}', '{"b":[1,2],"a":1}'])
      expect((await send('POST', '/spans', of(data))).status).toBe(200)
    for (const data of ['{"a":1.0,"b":[1,2]}', '{"a":1,"b":[2,1]}', '{"a":1}'])
      expect((await send('POST', '/spans', of(data))).status).toBe(409)
  })

  test('creates that say what patches have made of a span are never refused, however many come at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const body = span('t1', { id: `merged ${round}`, data: { a: 1 } })
      await client.createSpan({ body })
      await client.updateSpan({ params: { span_id: body.id }, body: { data: { b: 2 } } })
      const same = { ...body, data: { a: 1, b: 2 } }
      const spans = await Promise.all([1, 2, 3, 4].map(() => client.createSpan({ body: same })))
      expect(spans.map(({ data }) => data)).toEqual(spans.map(() => same.data))
    }
  })

  test('an end before the start is 422', async () => {
    const body = span('t1', { end_time: '2026-01-01T09:59:59Z' })
    expect(await problem(client.createSpan({ body }))).toMatchObject({ status: 422, errors: [{ path: 'end_time' }] })
  })

  test('payloads come back as the text that was sent, alone, in lists, in traces and in batches', async () => {
    const text = '{"big":12345678901234567890,"one":1.0,"z":{"nul":"\\u0000","half":"\\ud800"},"a":[1E2, -0 ] }'
    const span = `{"id":"verbatim","name":"n","trace_id":"verbatim","start_time":"${START}","input":${text},"output":[${text}],"data":${text}}`
    const batch = `{"spans":[${span}]}`
    for (const [method, path, body] of [
      ['POST', '/spans', span],
      ['POST', '/spans/batch', batch],
      ['PUT', '/spans/batch', batch],
      ['GET', '/spans/verbatim'],
      ['GET', '/spans?trace_id=verbatim'],
      ['GET', '/traces/verbatim?include=payload'],
    ] as const) {
      const answer = await send(method, path, body)
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.text).toContain(`"input":${text},"output":[${text}],"data":${text}}`)
    }
  })

  test('ids, names and traces with any unicode work, percent-encoded once in the path', async () => {
    const id = 'a/b c%20?#é\u{1f600}..'
    await client.createSpan({ body: span('t/ü', { id, name: '名前' }) })
    expect(await client.getSpan({ params: { span_id: id } })).toMatchObject({ id, name: '名前', trace_id: 't/ü' })
  })
})

describe('patch', () => {
  const patched = async (body: object, patch: object) => {
    const { id } = await client.createSpan({ body: span('p', body) })
    return client.updateSpan({ params: { span_id: id }, body: patch })
  }

  test('completes a span; what is left out or null stays', async () => {
    const patch = { output: { done: true }, end_time: '2026-01-01T10:10:00Z', input: null }
    expect(await patched({ input: { a: 1 } }, patch)).toMatchObject({
      input: { a: 1 },
      output: { done: true },
      end_time: '2026-01-01T10:10:00Z',
      trace_id: 'p',
    })
  })

  test('data merges by its top-level keys', async () => {
    expect(
      (await patched({ data: { test: true, deep: { a: 1 } } }, { data: { version: 2, deep: { b: 2 } } })).data,
    ).toEqual({
      test: true,
      version: 2,
      deep: { b: 2 },
    })
  })

  test('data that is a list is replaced, and so is a list by an object', async () => {
    expect((await patched({ data: { a: 1 } }, { data: [{ b: 2 }] })).data).toEqual([{ b: 2 }])
    expect((await patched({ data: [{ b: 2 }] }, { data: { a: 1 } })).data).toEqual({ a: 1 })
  })

  test('concurrent patches lose nothing, however many', async () => {
    const { id } = await client.createSpan({ body: span('p', { data: { start: 1.5 } }) })
    const patches = Array.from({ length: 50 }, (_, index) => ({ [`key${index}`]: index }))
    await Promise.all(patches.map((data) => client.updateSpan({ params: { span_id: id }, body: { data } })))
    expect((await client.getSpan({ params: { span_id: id } })).data).toEqual(Object.assign({ start: 1.5 }, ...patches))
    const [row] = await app.db
      .sql`select length(data) - length(replace(data, chr(30), '')) as segments from agent.spans where id = ${id}`
    expect(row?.['segments']).toBeLessThan(50)
  })

  test('{} changes nothing', async () => {
    expect(await patched({ input: { a: 1 } }, {})).toMatchObject({ input: { a: 1 }, output: null })
  })

  test('a completed span never goes back to running', async () => {
    const end_time = '2026-01-01T11:00:00Z'
    expect(await patched({ end_time }, { end_time: null, output: { a: 1 } })).toMatchObject({ end_time })
    const { id } = await client.createSpan({ body: span('p', { end_time }) })
    expect(await client.createSpan({ body: span('p', { id, end_time: null }) })).toMatchObject({ end_time })
  })

  test('an end before the stored start is 422 and changes nothing', async () => {
    const { id } = await client.createSpan({ body: span('p') })
    const params = { span_id: id }
    const body = { end_time: '2026-01-01T09:00:00Z', output: { lost: true } }
    expect(await problem(client.updateSpan({ params, body }))).toMatchObject({
      status: 422,
      errors: [{ path: 'end_time' }],
    })
    expect(await client.getSpan({ params })).toMatchObject({ end_time: null, output: null })
    await client.updateSpan({ params, body: { end_time: START } })
    expect(await problem(client.updateSpan({ params, body: { start_time: '2026-01-02' } }))).toMatchObject({
      status: 422,
      errors: [{ path: 'start_time', message: 'must not be after end_time' }],
    })
  })

  test('an unknown id is 404, unless the patch holds all that a span needs', async () => {
    const params = { span_id: 'patched into being' }
    expect(await problem(client.updateSpan({ params, body: { output: { a: 1 } } }))).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    expect(await client.updateSpan({ params, body: span('p', { output: { a: 1 } }) })).toMatchObject({
      output: { a: 1 },
    })
    expect(await client.createSpan({ body: span('p', { id: params.span_id, input: { b: 2 } }) })).toMatchObject({
      input: { b: 2 },
      output: { a: 1 },
    })
  })
})

test('a patch with If-Match changes what is there, and makes nothing', async () => {
  const conditional = (span_id: string) =>
    client.raw(
      { method: 'patch', path: '/spans/{span_id}' },
      { params: { span_id }, body: span('p'), headers: { 'if-match': '*' } },
    )
  expect((await conditional('not there')).status).toBe(404)
  expect(await problem(client.getSpan({ params: { span_id: 'not there' } }))).toMatchObject({ status: 404 })
  await client.createSpan({ body: span('p', { id: 'there' }) })
  expect((await conditional('there')).status).toBe(200)
})

describe('tenancy', () => {
  test("another account's span is missing, and its id is free", async () => {
    const other = await app.client()
    const params = { span_id: 'mine' }
    await client.createSpan({ body: span('shared trace', { id: 'mine' }) })
    const missing = await problem(other.getSpan({ params: { span_id: 'nobody has this' } }))
    expect(await problem(other.getSpan({ params }))).toEqual(missing)
    expect(await problem(other.updateSpan({ params, body: { output: { a: 1 } } }))).toEqual(missing)
    expect(await other.listSpans({ query: { trace_id: 'shared trace' } })).toEqual([])
    expect(await other.createSpan({ body: span('shared trace', { id: 'mine', name: 'other' }) })).toMatchObject({
      name: 'other',
    })
    expect(await client.getSpan({ params })).toMatchObject({ name: 'step', output: null })
  })
})
