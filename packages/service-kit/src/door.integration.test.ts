import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@keelson/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from './listen.ts'
import { ACCOUNT, KEY, notes, testService } from './test-service.ts'
import { exchange, openSocket, readAll } from './test-socket.ts'

const AUTH = `Authorization: Bearer ${KEY}\r\n`
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${AUTH}\r\n`
const postHead = (connection: string, length: number) =>
  `POST /notes HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n${AUTH}X-Request-Id: mine\r\nContent-Length: ${length}\r\n\r\n`

/** A service that has room for two, and two who take it until `open` is called. */
const fullService = async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const service = testService({
    limits: { maxInFlight: 2 },
    authenticate: async () => {
      await gate
      return { ...ACCOUNT, scopes: null }
    },
  })
  const server = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
  onTestFinished(async () => await server[Symbol.asyncDispose]())
  const served = [exchange(server.url, get('/notes')), exchange(server.url, get('/notes'))]
  await eventually(() => expect(service.load.inFlight).toBe(2))
  return { service, url: server.url, served, open }
}

describe('beyond the cap of requests in flight', () => {
  test('the answer is a 503 to come back to, at once; probes are answered', async () => {
    const { service, url, served, open } = await fullService()
    const refused = await exchange(url, postHead('close', 0))
    expect(refused).toMatchObject({
      status: 503,
      headers: {
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': 'mine',
        'retry-after': '1',
      },
      json: { code: 'unavailable', status: 503, request_id: 'mine' },
    })
    expect((await exchange(url, get('/healthz?from=probe'))).status).toBe(200)
    open()
    expect((await Promise.all(served)).map(({ status }) => status)).toEqual([200, 200])
    expect((await exchange(url, get('/notes'))).status).toBe(200)
    expect(await service.metrics.registry.metrics()).toContain('http_requests_shed_total{reason="in_flight"} 1')
  })

  test('a refusal leaves its line in the log and its time among the durations', async () => {
    const { service, url, served, open } = await fullService()
    await exchange(url, postHead('close', 0))
    const line = { level: 40, method: 'POST', status: 503, request_id: 'mine', error_code: 'unavailable' }
    expect(service.lines).toContainEqual(expect.objectContaining(line))
    expect(await service.metrics.registry.metrics()).toMatch(/duration_seconds_count\{.*status="503".*\} 1/)
    open()
    await Promise.all(served)
  })

  test.each(['close', 'keep-alive'])('who is still sending has the answer before and may finish: %s', async (wish) => {
    const { url, served, open } = await fullService()
    const socket = await openSocket(url)
    const received = readAll(socket)
    socket.write(`${postHead(wish, 2000)}${'x'.repeat(1000)}`)
    await once(socket, 'data')
    open()
    await Promise.all(served)
    socket.write('x'.repeat(1000))
    if (wish === 'keep-alive') socket.write(get('/notes'))
    const text = await received
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    expect(statuses).toEqual(wish === 'close' ? ['503'] : ['503', '200'])
    expect(text).toContain('retry-after: 1\r\n')
  })

  test('a refused HEAD has no body, and its connection goes on', async () => {
    const { url, served, open } = await fullService()
    const socket = await openSocket(url)
    const received = readAll(socket)
    socket.write(`HEAD /notes HTTP/1.1\r\nHost: a\r\n${AUTH}\r\n`)
    await once(socket, 'data')
    open()
    await Promise.all(served)
    socket.write(get('/notes'))
    const [head = '', rest = ''] = (await received).split('\r\n\r\n')
    expect([head.split('\r\n')[0], rest.split('\r\n')[0]]).toEqual([
      'HTTP/1.1 503 Service Unavailable',
      'HTTP/1.1 200 OK',
    ])
  })
})

test('under twice what can be done everybody has an answer, and whoever is refused has cost no work', async () => {
  let worked = 0
  let last = Promise.resolve('done')
  const service = testService({ limits: { crowdSize: 80 } })
  // One after the other, as with a lock that all of them need.
  service.handle(notes.slowNote, () => {
    worked += 1
    last = last.then(() => delay(3, 'done'))
    return last
  })
  const server = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
  onTestFinished(async () => await server[Symbol.asyncDispose]())
  const outcomes: Promise<{ status: number; retryAfter: string | null }>[] = []
  for (let turn = 0; turn < 100; turn += 1) {
    for (let arrival = 0; arrival < 8; arrival += 1) {
      const sent = fetch(`${server.url}/slow-note`, { headers: { authorization: `Bearer ${KEY}` } })
      outcomes.push(sent.then(({ status, headers }) => ({ status, retryAfter: headers.get('retry-after') })))
    }
    await delay(10)
  }
  const answers = await Promise.all(outcomes)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(['503 1']))
  expect(worked).toBe(answers.length - refused.length)
  const metrics = await service.metrics.registry.metrics()
  expect(metrics).toContain(`http_requests_shed_total{reason="crowd"} ${refused.length}\n`)
})
