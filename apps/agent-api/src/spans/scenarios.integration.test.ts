import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const START = '2024-01-01T10:00:00Z'
const span = (more: object = {}) => ({ name: 'step', trace_id: 'trace', start_time: START, ...more })
const ids = (spans: { id: string }[]) => spans.map(({ id }) => id)

/** A client whose account holds these spans, created one after the other. */
const clientWith = async (bodies: object[]) => {
  const client = await app.client()
  for (const body of bodies) await client.createSpan({ body: span(body) })
  return client
}

type Client = Awaited<ReturnType<typeof app.client>>

const listed = async (client: Client, query: object) => ids(await client.listSpans({ query })).toSorted()

const statusOf = async (call: Promise<unknown>) => {
  const outcome = await call.then(
    () => ({ status: 200 }),
    (error: { status: number }) => error,
  )
  return outcome.status
}

describe('what clients of the original rely on', () => {
  test('a span with task, payloads and an unknown field gets an id and reads back equal in every field', async () => {
    const client = await app.client()
    const body = span({ task_id: 'task', input: { a: [1] }, output: { b: null }, metadata: { unknown: 1 } })
    const created = await client.createSpan({ body })
    expect(created).not.toHaveProperty('metadata')
    expect(await client.getSpan({ params: { span_id: created.id } })).toEqual(created)
  })

  test('without a task, task_id is null', async () => {
    const client = await app.client()
    expect((await client.createSpan({ body: span() })).task_id).toBeNull()
  })

  test('a patch of every field shows in the next read, times verbatim, the trace unchanged', async () => {
    const client = await clientWith([{ id: 'all' }])
    const patch = {
      name: 'renamed',
      task_id: 'task',
      parent_id: 'parent',
      start_time: '2024-01-01T10:05:00Z',
      end_time: '2024-01-01T10:10:00Z',
      input: { i: 1 },
      output: { o: 1 },
      data: { d: 1 },
    }
    await client.updateSpan({ params: { span_id: 'all' }, body: patch })
    expect(await client.getSpan({ params: { span_id: 'all' } })).toEqual({ id: 'all', trace_id: 'trace', ...patch })
  })

  test('a patch of trace and data merges data and leaves all else', async () => {
    const client = await clientWith([{ id: 'moved', data: { test: true }, input: { i: 1 }, task_id: 'task' }])
    const before = await client.getSpan({ params: { span_id: 'moved' } })
    const body = { trace_id: 'elsewhere', data: { version: 2 } }
    expect(await client.updateSpan({ params: { span_id: 'moved' }, body })).toEqual({
      ...before,
      trace_id: 'elsewhere',
      data: { test: true, version: 2 },
    })
  })

  test('of two traces a filter finds the one that is asked for, and without a filter there are both', async () => {
    const client = await clientWith([
      { id: 'a', trace_id: 'A' },
      { id: 'b', trace_id: 'B' },
    ])
    expect(await listed(client, { trace_id: 'A' })).toEqual(['a'])
    expect(await listed(client, {})).toEqual(['a', 'b'])
    expect(await listed(client, { trace_id: '' })).toEqual(['a', 'b'])
    expect(await listed(client, { trace_id: 'nobody' })).toEqual([])
  })

  test('of three spans of one task, two of another and one of none, each task has its own and no filter has six', async () => {
    const tasks = ['A', 'A', 'A', 'B', 'B', undefined]
    const client = await clientWith(tasks.map((task_id, index) => ({ id: `s${index}`, task_id })))
    expect(await listed(client, { task_id: 'A' })).toEqual(['s0', 's1', 's2'])
    expect(await listed(client, { task_id: 'B' })).toEqual(['s3', 's4'])
    expect(await listed(client, { task_id: '' })).toHaveLength(6)
  })

  test('a trace and a task together find what is of both', async () => {
    const client = await clientWith([
      { id: 'TX', trace_id: 'T', task_id: 'X' },
      { id: 'TY', trace_id: 'T', task_id: 'Y' },
      { id: 'OX', trace_id: 'O', task_id: 'X' },
    ])
    expect(await listed(client, { trace_id: 'T', task_id: 'X' })).toEqual(['TX'])
  })

  test('sixty spans: fifty by default, and pages of seven until one is empty hold each once', async () => {
    const client = await clientWith(Array.from({ length: 60 }, (_, index) => ({ id: `s${index}` })))
    expect(await client.listSpans()).toHaveLength(50)
    const seen: string[] = []
    for (let page_number = 1, more = true; more; page_number += 1) {
      const page = ids(await client.listSpans({ query: { limit: '7', page_number: `${page_number}` } }))
      more = page.length > 0
      seen.push(...page)
    }
    expect(seen).toHaveLength(60)
    expect(new Set(seen).size).toBe(60)
  })

  test('ascending and descending are exact reversals; the default is by start, newest first', async () => {
    const times = ['10:00:03Z', '10:00:01Z', '10:00:02.000001Z', '10:00:02Z']
    const client = await clientWith(times.map((time, index) => ({ id: `s${index}`, start_time: `2024-01-01T${time}` })))
    const list = async (order_direction: 'asc' | 'desc') =>
      ids(await client.listSpans({ query: { order_by: 'start_time', order_direction } }))
    expect(await list('asc')).toEqual(['s1', 's3', 's2', 's0'])
    expect(await list('desc')).toEqual((await list('asc')).toReversed())
    expect(ids(await client.listSpans())).toEqual(await list('desc'))
  })

  test('an unknown id is 404', async () => {
    const client = await app.client()
    expect(await statusOf(client.getSpan({ params: { span_id: 'nobody' } }))).toBe(404)
  })

  test('a task is found by the trace that is named after it, each span once, and no filter never means that', async () => {
    const client = await clientWith([
      { id: 'old', trace_id: 'task-1' },
      { id: 'both', trace_id: 'task-1', task_id: 'task-1' },
      { id: 'new', trace_id: 'other', task_id: 'task-1' },
      { id: 'foreign', trace_id: 'task-1', task_id: 'task-2' },
      { id: 'none', trace_id: 'other' },
    ])
    expect(await listed(client, { task_id: 'task-1' })).toEqual(['both', 'foreign', 'new', 'old'])
    expect(await listed(client, { task_id: 'task-1', trace_id: 'other' })).toEqual(['new'])
    expect(await listed(client, { task_id: '' })).toHaveLength(5)
  })

  test.each([
    { limit: '0' },
    { limit: '1001' },
    { page_number: '0' },
    { order_by: 'input' },
    { order_direction: 'up' },
  ])('%j is 422', async (query) => {
    const client = await app.client()
    expect((await client.raw({ method: 'get', path: '/spans' }, { query })).status).toBe(422)
  })

  test('a second span with the id of another is 409, and retries are not asked for', async () => {
    const client = await clientWith([{ id: 'twice' }])
    const { status, headers } = await client.raw(
      { method: 'post', path: '/spans' },
      { body: span({ id: 'twice', name: 'other' }) },
    )
    expect([status, headers.get('x-should-retry')]).toEqual([409, 'false'])
  })
})
