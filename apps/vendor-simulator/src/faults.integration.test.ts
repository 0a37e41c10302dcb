import { expect, test } from 'vitest'
import { createFaults, type FaultInput } from './faults.ts'
import { LLM, llmBody, stage, vendor, type Stage } from './test-vendor.ts'

const create = ({ ask }: Stage) => ask('POST', LLM, llmBody())
const exists = ({ sim }: Stage) => sim.endpoint('llm-1') !== null
const raw = ({ sim }: Stage, init: RequestInit = {}) =>
  fetch(`${sim.url}${LLM}/llm-1`, { headers: { authorization: 'Bearer key' }, ...init })

const hit = async (fault: FaultInput) => {
  const it = await stage({ default_profile: 'instant' })
  it.sim.addFault(fault)
  return it
}

test.each([
  [400, { detail: 'The user specified an invalid value.' }],
  [409, { detail: 'Existing operation on endpoint in progress, try again later.' }],
  [429, { error: 'Too many requests', timestamp: expect.any(String) }],
  [500, { error: expect.any(String), timestamp: expect.any(String), request_id: expect.any(String) }],
  [503, { detail: 'Message broker temporarily unavailable. Please retry.' }],
])('status %i comes with its usual body, once, and nothing happens at the vendor', async (status, body) => {
  await using it = await hit({ kind: 'status', status })
  expect(await create(it)).toMatchObject({ status, body })
  expect(exists(it)).toBe(false)
  expect((await create(it)).status).toBe(200)
})

test.each([502, 504])('status %i comes from a proxy, as HTML', async (status) => {
  await using it = await hit({ kind: 'status', status })
  const response = await raw(it)
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html'])
})

test('a status after the vendor acted has changed something', async () => {
  await using it = await hit({ kind: 'status', status: 502, when: 'after', body: { detail: 'gone' } })
  expect(await create(it)).toMatchObject({ status: 502, body: { detail: 'gone' } })
  expect(exists(it)).toBe(true)
  expect(it.sim.journal()).toMatchObject([{ outcome: 200, sent: 502, committed: true, fault: 'fault_1' }])
})

test('rate_limit answers 429 with Retry-After', async () => {
  await using it = await hit({ kind: 'rate_limit', retry_after_seconds: 2 })
  const { status, headers } = await create(it)
  expect([status, headers.get('retry-after')]).toEqual([429, '2'])
})

test.each([
  ['before', false, null],
  ['after', true, 200],
] as const)('a reset %s the vendor acted breaks the connection', async (when, isThere, outcome) => {
  await using it = await hit({ kind: 'reset', when })
  await expect(create(it)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
  expect(exists(it)).toBe(isThere)
  expect(it.sim.journal()).toMatchObject([{ outcome, sent: 'reset', committed: isThere }])
})

test.each([
  ['before', false],
  ['after', true],
] as const)('a hang %s the vendor acted lasts until the client gives up', async (when, isThere) => {
  await using it = await hit({ kind: 'hang', when })
  const body = JSON.stringify(llmBody())
  const headers = { authorization: 'Bearer key' }
  const patience = new AbortController()
  const given = fetch(`${it.sim.url}${LLM}`, { method: 'POST', body, headers, signal: patience.signal })
  await expect.poll(() => it.sim.journal().length).toBe(1)
  patience.abort()
  await expect(given).rejects.toMatchObject({ name: 'AbortError' })
  await expect.poll(() => it.sim.journal()[0]?.sent).toBe('hang')
  await expect.poll(() => exists(it)).toBe(isThere)
})

test('closing the simulator ends what hangs', async () => {
  const it = await hit({ kind: 'hang' })
  const hanging = create(it).catch(() => 'cut')
  await expect.poll(() => it.sim.journal().length).toBe(1)
  await it[Symbol.asyncDispose]()
  expect(await hanging).toBe('cut')
})

test('a delayed request takes effect although its client has gone', async () => {
  await using it = await hit({ kind: 'delay', interval_ms: 500 })
  const body = JSON.stringify(llmBody())
  const headers = { authorization: 'Bearer key' }
  const patience = new AbortController()
  const given = fetch(`${it.sim.url}${LLM}`, { method: 'POST', body, headers, signal: patience.signal })
  await expect.poll(() => it.sim.journal().length).toBe(1)
  expect(exists(it)).toBe(false)
  patience.abort()
  await expect(given).rejects.toMatchObject({ name: 'AbortError' })
  await expect.poll(() => exists(it)).toBe(true)
})

test('a redirect keeps the method and the body', async () => {
  await using it = await hit({ kind: 'redirect' })
  expect((await create(it)).status).toBe(200)
  expect(it.sim.journal().map(({ sent, committed }) => [sent, committed])).toEqual([
    [307, false],
    [200, true],
  ])
})

test('a trickled answer arrives byte by byte, and whole', async () => {
  await using it = await hit({ kind: 'trickle', operation: 'llm.create', interval_ms: 1 })
  const answer = await create(it)
  expect(answer.body).toEqual({ endpoint_creation_task_id: expect.any(String) })
  expect(answer.headers.get('content-length')).toBeNull()
})

test('malformed_json cuts the answer in the middle', async () => {
  await using it = await hit({ kind: 'malformed_json', operation: 'llm.get' })
  await create(it)
  const response = await raw(it)
  expect(response.status).toBe(200)
  await expect(response.json()).rejects.toThrow(SyntaxError)
})

test.each([
  ['unknown_status', { status: 'RECONCILING', spec: { status: 'RECONCILING' } }],
  ['extra_fields', { status: 'READY', a_field_from_the_future: { nested: [1, null, 'x'] } }],
] as const)('%s spoils the answer', async (kind, body) => {
  await using it = await hit({ kind, operation: 'llm.get' })
  await create(it)
  expect((await it.ask('GET', `${LLM}/llm-1`)).body).toMatchObject(body)
  expect((await it.ask('GET', `${LLM}/llm-1`)).body).not.toHaveProperty('a_field_from_the_future')
})

test('missing_fields leaves out what a client needs', async () => {
  await using it = await hit({ kind: 'missing_fields', operation: 'llm.get' })
  await create(it)
  const { body } = await it.ask('GET', `${LLM}/llm-1`)
  expect(body).toMatchObject({ name: 'llm-1', spec: { name: 'llm-1' } })
  expect(body).not.toHaveProperty('status')
  expect(body.spec).not.toHaveProperty('deployment_state')
})

test('a fault strikes where its operation and endpoint say, after the requests it skips, as often as it counts', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await create(it)
  it.sim.addFault({ kind: 'status', status: 503, operation: 'llm.*', endpoint: 'llm-*', skip: 1, count: 2 })
  const seen: number[] = []
  for (let attempt = 0; attempt < 5; attempt += 1) seen.push((await it.ask('GET', `${LLM}/llm-1`)).status)
  expect(seen).toEqual([200, 503, 503, 200, 200])
  expect((await it.ask('GET', `${LLM}/other`)).status).toBe(404)
  expect((await it.ask('GET', '/v2/model-bundles')).status).toBe(200)
})

test('a fault with a probability strikes the same requests under the same seed, whatever other faults there are', () => {
  const strikes = (seed: string, others: number) => {
    const faults = createFaults(() => seed)
    const id = faults.add({ kind: 'reset', operation: 'llm.get', probability: 0.3, count: null })
    for (let other = 0; other < others; other += 1)
      faults.add({ kind: 'hang', operation: 'llm.list', probability: 0.5 })
    return Array.from({ length: 200 }, () => {
      faults.draw('llm.list', null)
      return faults.draw('llm.get', null)?.id === id
    })
  }
  const first = strikes('one', 0)
  expect(strikes('one', 3)).toEqual(first)
  expect(strikes('two', 0)).not.toEqual(first)
  const share = first.filter(Boolean).length / first.length
  expect(share).toBeGreaterThan(0.2)
  expect(share).toBeLessThan(0.4)
})

test('more requests at a time than the limiter lets in are answered 429', async () => {
  await using it = await stage({ default_profile: 'delete-slow', server: { max_in_flight: 1 } })
  await create(it)
  const deleting = it.ask('DELETE', `${LLM}/llm-1`)
  await expect.poll(() => it.sim.endpoint('llm-1')?.status).toBe('DELETE_IN_PROGRESS')
  expect(await vendor(it.sim)('GET', LLM)).toMatchObject({ status: 429, body: { error: 'Too many requests' } })
  it.sim.advance(40_000)
  expect((await deleting).status).toBe(200)
})
