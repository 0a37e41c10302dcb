import { describe, expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { notes, request, send, testService } from './test-service.ts'

const service = testService()

describe('failures', () => {
  test('an unknown one is a 500 that says nothing of its cause, in the answer and in the log', async () => {
    const failing = testService()
    const { status, text, json } = await send(failing, '/notes/1/fail', { body: '{"message":"hunter2"}' })
    expect([status, json['code']]).toEqual([500, 'internal'])
    expect(text).not.toMatch(/hunter2|Error|\.ts/)
    expect(failing.lines[0]).toMatchObject({
      level: 50,
      status: 500,
      error_code: 'internal',
      err: { name: 'Error', stack: expect.stringContaining('test-service.ts') },
    })
    expect(JSON.stringify(failing.lines[0]!['err'])).not.toContain('"message"')
  })

  test('a passing fault of a dependency is a 503 to come back to', async () => {
    const failing = testService({ isTransient: (error) => (error as { code?: string }).code === '57P01' })
    const { status, headers, json } = await send(failing, '/notes/1/fail', { body: '{"message":"57P01"}' })
    expect([status, headers.get('retry-after'), json['code']]).toEqual([503, '1', 'unavailable'])
  })

  test('what is thrown need not be an error', async () => {
    const failing = testService({ authenticate: () => Promise.reject('text') })
    expect((await send(failing, '/notes')).status).toBe(500)
  })

  test('a conflict that will not pass tells clients not to try again', async () => {
    const taken = await send(service, '/notes', { body: '{"text":"taken"}' })
    expect([taken.status, taken.headers.get('x-should-retry')]).toEqual([409, 'false'])
  })

  test('errors may bring headers and a time to come back', async () => {
    const busy = testService({
      authenticate: () =>
        Promise.reject(new ApiError('teardown_in_progress', 'x', { retryAfterSeconds: 4.2, headers: { 'x-a': 'b' } })),
    })
    const { status, headers } = await send(busy, '/notes')
    expect([status, headers.get('retry-after'), headers.get('x-a')]).toEqual([503, '5', 'b'])
  })
})

describe('request ids and traces', () => {
  test('a sane id of the caller is kept, others are replaced', async () => {
    const idFor = async (id: string) =>
      (await send(service, '/notes', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
    expect(await idFor('abc-1.2_3')).toBe('abc-1.2_3')
    for (const bad of ['a b', 'x'.repeat(129), 'a"b', '']) expect(await idFor(bad)).toMatch(/^[\da-f-]{36}$/)
  })

  test('a well-formed traceparent reaches the handler and the log', async () => {
    const traced = testService()
    const seen: (string | null)[] = []
    traced.raw('get', '/trace', (c) => {
      seen.push(c.env.traceparent)
      return { status: 200, body: 'ok' }
    })
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    for (const traceparent of [trace, `${trace}x`, trace.replace('4', 'G')])
      await send(traced, '/trace', { headers: { traceparent } })
    expect(seen).toEqual([trace, null, null])
    expect(traced.lines[0]).toMatchObject({ trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' })
  })
})

describe('the canonical line', () => {
  test('is one per request, with the pattern and never the path', async () => {
    const logged = testService()
    await send(logged, '/notes/some-id')
    await send(logged, '/notes/missing')
    await send(logged, '/secret/path')
    expect(logged.lines).toMatchObject([
      {
        level: 30,
        message: 'request',
        method: 'GET',
        route: '/notes/{note_id}',
        status: 200,
        account_id: 'acct_1',
        key_id: 'key_1',
      },
      { status: 404, error_code: 'not_found' },
      { status: 404, route: 'unmatched', error_code: 'unknown_path' },
    ])
    expect(JSON.stringify(logged.lines)).not.toMatch(/some-id|secret/)
  })

  test('is not written for probes that succeed', async () => {
    const probed = testService()
    await send(probed, '/healthz')
    await send(probed, '/readyz')
    expect(probed.lines).toEqual([])
  })

  test('goes with a duration in the metrics', async () => {
    const measured = testService()
    await send(measured, '/notes/1')
    expect(await measured.metrics.registry.metrics()).toContain(
      'http_request_duration_seconds_count{route="/notes/{note_id}",method="GET",status="200"} 1',
    )
  })
})

test('nothing can be mounted after the first request', async () => {
  const late = testService()
  await late.fetch(request('/notes'))
  expect(() => late.handle(notes.listNotes, () => ({ limit: 1, name: null }))).toThrow('after the first request')
})
