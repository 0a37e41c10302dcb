import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { circuitBreaker } from './circuit-breaker.ts'
import { vendorHttp, type Call } from './http.ts'
import { startStep } from './step.ts'
import { VendorError } from './vendor-error.ts'

let stack = new AsyncDisposableStack()

afterEach(async () => {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

type Answerer = (request: IncomingMessage, response: ServerResponse, count: number) => void

const vendor = async (
  answer: Answerer,
  options: { concurrency?: number; failures?: number; requestTimeoutMs?: number } = {},
) => {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    answer(request, response, seen.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const outcomes: string[] = []
  const http = stack.use(
    vendorHttp({
      baseUrl: `http://127.0.0.1:${port}/prefix/`,
      apiKey: 'key',
      concurrency: options.concurrency ?? 4,
      requestTimeoutMs: options.requestTimeoutMs ?? 2_000,
      breaker: circuitBreaker({ failures: options.failures ?? 100, openMs: 60_000 }),
      onRequest: (_operation, outcome) => outcomes.push(outcome),
    }),
  )
  return { http, seen, outcomes, stop: () => server.closeAllConnections() }
}

const read: Call = { operation: 'find', method: 'GET', path: '/x?name=a', traceparent: null }
const write: Call = { operation: 'create', method: 'POST', path: '/x', body: { a: 1 }, traceparent: '00-ab-cd-01' }

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const failure = async (work: Promise<unknown>): Promise<VendorError> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(VendorError)
  return error as VendorError
}

describe('a request', () => {
  test('goes below the base URL, with the key, the trace and JSON', async () => {
    const { http, seen } = await vendor((_request, response) => json(response, 200, { ok: true }))
    expect(await http.call(write, startStep(5_000))).toEqual({ status: 200, body: { ok: true }, retryAfterMs: 0 })
    expect(seen[0]).toMatchObject({ url: '/prefix/x', method: 'POST' })
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('key:').toString('base64')}`,
      'content-type': 'application/json',
      traceparent: '00-ab-cd-01',
    })
  })

  test('is not sent when its step ended while the connection was made, and so has no uncertain outcome', async () => {
    const { http, seen, outcomes } = await vendor((_request, response) => json(response, 200, {}))
    const looks = [5_000]
    const overrun = startStep(0)
    const step = { ...overrun, remainingMs: () => looks.shift() ?? overrun.remainingMs() }
    expect(await failure(http.call(write, step))).toMatchObject({ reason: 'vendor_unavailable', uncertain: false })
    expect(await http.call(read, startStep(5_000))).toMatchObject({ status: 200 })
    expect(seen.map(({ method }) => method)).toEqual(['GET'])
    expect(outcomes).toEqual(['not_sent', '2xx'])
  })

  test('is answered with no body when the answer is not JSON, and with the Retry-After in milliseconds', async () => {
    const { http } = await vendor((_request, response) => response.writeHead(429, { 'retry-after': '7' }).end('<html>'))
    expect(await http.call(write, startStep(5_000))).toEqual({ status: 429, body: undefined, retryAfterMs: 7_000 })
  })

  test('that gets no answer in time fails; a write then has an unknown outcome, a read has none', async () => {
    const { http } = await vendor(() => {}, { requestTimeoutMs: 50 })
    expect(await failure(http.call(write, startStep(5_000)))).toMatchObject({
      reason: 'vendor_unavailable',
      uncertain: true,
      retryable: true,
      detail: 'no answer in time',
    })
    expect(await failure(http.call(read, startStep(120)))).toMatchObject({ uncertain: false })
  })

  test('whose answer trickles ends with the step', async () => {
    const { http } = await vendor((_request, response) => {
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    })
    expect(await failure(http.call(write, startStep(200)))).toMatchObject({
      uncertain: true,
      detail: 'no answer in time',
    })
  })

  test('whose answer is endless is cut off', async () => {
    const { http } = await vendor((_request, response) => response.end(Buffer.alloc(5 * 1024 * 1024, 32)))
    expect(await failure(http.call(write, startStep(5_000)))).toMatchObject({
      reason: 'vendor_unavailable',
      uncertain: true,
    })
  })

  test('that nobody listens to was certainly not sent', async () => {
    const nobody = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key', concurrency: 1, requestTimeoutMs: 500 }
    const http = stack.use(
      vendorHttp({ ...nobody, breaker: circuitBreaker({ failures: 9, openMs: 1 }), onRequest: () => {} }),
    )
    expect(await failure(http.call(write, startStep(2_000)))).toMatchObject({ uncertain: false, retryable: true })
  })
})

describe('within a step', () => {
  test('a read is tried three times, a write once', async () => {
    const { http, seen } = await vendor((_request, response) => json(response, 503, {}))
    expect(await http.call(read, startStep(5_000))).toMatchObject({ status: 503 })
    expect(seen).toHaveLength(3)
    expect(await http.call(write, startStep(5_000))).toMatchObject({ status: 503 })
    expect(seen).toHaveLength(4)
  })

  test('a read whose connection was cut is answered the next time', async () => {
    const { http } = await vendor((request, response, count) =>
      count === 1 ? request.socket.destroy() : json(response, 200, {}),
    )
    expect(await http.call(read, startStep(5_000))).toMatchObject({ status: 200 })
  })

  test('a Retry-After is left to the next step', async () => {
    const { http, seen } = await vendor((_request, response) => json(response, 503, {}, { 'retry-after': '1' }))
    expect(await http.call(read, startStep(5_000))).toMatchObject({ retryAfterMs: 1_000 })
    expect(seen).toHaveLength(1)
  })

  test('nothing is sent once its time is over', async () => {
    const { http, seen } = await vendor((_request, response) => json(response, 200, {}))
    expect(await failure(http.call(write, startStep(0)))).toMatchObject({ uncertain: false })
    expect(seen).toEqual([])
  })

  test('a hurry ends what is under way', async () => {
    const hurry = new AbortController()
    const { http } = await vendor(() => hurry.abort())
    expect(await failure(http.call(write, startStep(60_000, hurry.signal)))).toMatchObject({ uncertain: true })
  })
})

describe('one vendor', () => {
  test('gets no more requests at a time than allowed; the rest wait their turn', async () => {
    let now = 0
    let most = 0
    const { http } = await vendor(
      (_request, response) => {
        most = Math.max(most, (now += 1))
        setTimeout(() => {
          now -= 1
          json(response, 200, {})
        }, 5)
      },
      { concurrency: 3 },
    )
    const answers = await Promise.all(Array.from({ length: 20 }, () => http.call(write, startStep(5_000))))
    expect(answers).toHaveLength(20)
    expect(most).toBe(3)
  })

  test('a wait for a turn that outlives its step sends nothing', async () => {
    const { http, seen } = await vendor(() => {}, { concurrency: 1 })
    const first = failure(http.call(write, startStep(300)))
    expect(await failure(http.call(write, startStep(50)))).toMatchObject({ uncertain: false, retryable: true })
    await first
    expect(seen).toHaveLength(1)
  })

  test('that is down is left alone after a while, and refusals say for how long', async () => {
    const { http, seen, outcomes } = await vendor((_request, response) => json(response, 503, {}), { failures: 3 })
    for (let call = 0; call < 3; call += 1) await http.call(write, startStep(5_000))
    const refused = await failure(http.call(write, startStep(5_000)))
    expect(refused).toMatchObject({ reason: 'vendor_unavailable', uncertain: false })
    expect(refused.retryAfterMs).toBeGreaterThan(50_000)
    expect(seen).toHaveLength(3)
    expect(outcomes).toEqual(['5xx', '5xx', '5xx', 'not_sent'])
  })

  test('that says no is not down', async () => {
    const { http, seen } = await vendor((_request, response) => json(response, 400, {}), { failures: 2 })
    for (let call = 0; call < 5; call += 1) await http.call(write, startStep(5_000))
    expect(seen).toHaveLength(5)
  })
})
