import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@keelson/testing'
import { expect, test, vi } from 'vitest'
import type { ApiError } from './api-error.ts'
import { loadGuard } from './load.ts'
import { rateLimiter } from './rate-limit.ts'
import type { RequestFacts } from './request-facts.ts'
import { notes, send, testService } from './test-service.ts'

test('a caller is not kept waiting for work that does not end, and the work counts until it has', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const service = testService({ limits: { patienceMs: 20 } })
  service.handle(notes.slowNote, () => gate.then(() => 'done'))
  const { status, headers, json } = await send(service, '/slow-note')
  expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '5'])
  expect(service.load.inFlight).toBe(1)
  open()
  await eventually(() => expect(service.load.inFlight).toBe(0))
})

test('an operation that waits on purpose is given that time too', async () => {
  const service = testService({ limits: { patienceMs: 0 } })
  service.handle(notes.slowNote, () => new Promise((resolve) => setTimeout(resolve, 20, 'done')), {
    waitsMs: () => 20_000,
  })
  expect((await send(service, '/slow-note')).status).toBe(200)
})

test('a blocked event loop sheds load, and no longer when it is free again', async () => {
  const load = loadGuard({ maxInFlight: 10, maxEventLoopDelayMs: 100 })
  using _watch = load.watch()
  const outcome = () => load.overload()
  const block = () => {
    for (const until = performance.now() + 200; performance.now() < until;);
  }
  await vi.waitFor(() => (block(), expect(outcome()).toBe('event_loop')), { timeout: 5000, interval: 1 })
  await vi.waitFor(() => expect(outcome()).toBeNull(), { timeout: 5000, interval: 50 })
})

test('a long turn of the event loop now and then sheds nothing', async () => {
  const load = loadGuard({ maxInFlight: 10, maxEventLoopDelayMs: 100 })
  using _watch = load.watch()
  const outcomes = new Set<string | null>()
  for (let long = 0; long < 3; long += 1) {
    for (const until = performance.now() + 700; performance.now() < until;);
    for (let short = 0; short < 5; short += 1) {
      await delay(20)
      outcomes.add(load.overload())
    }
  }
  expect([...outcomes]).toEqual([null])
})

test('a key may burst, then gets 429 with the time until the next token, and is told where it stands', () => {
  const limit = rateLimiter({ requestsPerSecond: 2, burst: 3 })
  const outcome = (now: number, key = 'a') => {
    const facts: Pick<RequestFacts, 'rateLimit'> = { rateLimit: undefined }
    try {
      limit(key, facts, now)
      return facts.rateLimit?.['ratelimit']
    } catch (error) {
      return [(error as ApiError).retryAfterSeconds, facts.rateLimit?.['ratelimit']]
    }
  }
  const [first, second, third] = ['"key";r=2;t=1', '"key";r=1;t=1', '"key";r=0;t=1']
  expect([0, 0, 0, 0].map((now) => outcome(now))).toEqual([first, second, third, [0.5, third]])
  expect(outcome(0, 'b')).toBe(first)
  expect([outcome(500), outcome(500)]).toEqual([third, [0.5, third]])
  expect([outcome(1e6), outcome(1e6), outcome(1e6), outcome(1e6)]).toEqual([first, second, third, [0.5, third]])
})

test('a key over its limit is refused whatever it asks; every answer to a key tells its limit', async () => {
  const service = testService({ limits: { rate: { requestsPerSecond: 0.1, burst: 1 } } })
  const policy = '"key";q=1;w=10'
  const { headers: first } = await send(service, '/notes')
  expect([first.get('ratelimit'), first.get('ratelimit-policy')]).toEqual(['"key";r=0;t=10', policy])
  const { status, headers, json } = await send(service, '/notes')
  expect([status, json['code'], headers.get('ratelimit-policy')]).toEqual([429, 'rate_limited', policy])
  const wait = Number(headers.get('retry-after'))
  expect([wait > 8, headers.get('ratelimit')]).toEqual([true, `"key";r=0;t=${wait}`])
  expect((await send(service, '/healthz')).headers.has('ratelimit')).toBe(false)
})
