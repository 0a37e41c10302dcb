import { JsonBytes, route } from '@keelson/contracts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { IdempotencyStore, IdempotentRequest, StoredAnswer } from './idempotency.ts'
import { send, testService } from './test-service.ts'

/** A store with the semantics that a table would have, and a memory of what was asked of it. */
const memoryStore = () => {
  const attempts = new Map<string, { fingerprint: string; answer: StoredAnswer | null }>()
  const finished: (StoredAnswer | null)[] = []
  const id = ({ account_id, operation, key }: IdempotentRequest) => `${account_id} ${operation} ${key}`
  const store: IdempotencyStore = {
    begin: async (request) => {
      const known = attempts.get(id(request))
      if (!known) attempts.set(id(request), { fingerprint: request.fingerprint, answer: null })
      if (!known) return { outcome: 'go' }
      if (known.fingerprint !== request.fingerprint) return { outcome: 'reused' }
      return known.answer ? { outcome: 'replay', answer: known.answer } : { outcome: 'conflict' }
    },
    finish: async (request, answer) => {
      finished.push(answer)
      if (answer) attempts.set(id(request), { fingerprint: request.fingerprint, answer })
      else attempts.delete(id(request))
    },
  }
  return { store, finished }
}

const count = route('count', 'post', '/count', {
  tag: 'T',
  summary: 'Count',
  scope: 'spans:write',
  body: z.object({ secret: z.boolean().optional(), wait: z.boolean().optional() }),
  ok: z.number(),
})

const counting = () => {
  const { store, finished } = memoryStore()
  const service = testService({ idempotency: store })
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  let calls = 0
  service.handle(count, async ({ body }) => {
    calls++
    if (body.wait) await gate
    return calls
  })
  const withKey = (key: string, body = '{}') => send(service, '/count', { body, headers: { 'idempotency-key': key } })
  return { service, finished, withKey, open, store }
}

describe('an Idempotency-Key', () => {
  test('makes a repetition answer as before, and says so', async () => {
    const { withKey } = counting()
    const [first, second, quoted] = [await withKey('k'), await withKey('k'), await withKey('"k"')]
    expect([first.text, second.text, quoted.text]).toEqual(['1', '1', '1'])
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    expect((await withKey('other')).text).toBe('2')
  })

  test('of another request is refused', async () => {
    const { withKey } = counting()
    await withKey('k')
    expect(await withKey('k', '{"secret":false}')).toMatchObject({
      status: 422,
      json: { code: 'idempotency_key_reused' },
    })
  })

  test('of a request in flight is a conflict that may be tried again', async () => {
    const { withKey, open } = counting()
    const first = withKey('k', '{"wait":true}')
    const second = await withKey('k', '{"wait":true}')
    expect([second.status, second.json['code'], second.headers.get('x-should-retry')]).toEqual([
      409,
      'request_in_progress',
      null,
    ])
    open()
    expect((await first).status).toBe(200)
  })

  test('is forgotten when the request fails, and not used at all when it is invalid', async () => {
    const { finished, service } = counting()
    const headers = { 'idempotency-key': 'k' }
    await send(service, '/notes', { body: '{"text":"taken"}', headers })
    expect(finished).toEqual([null])
    await send(service, '/notes', { body: '{"text":1}', headers })
    expect(finished).toHaveLength(1)
  })

  test.each(['', 'x'.repeat(300), 'a, b', 'ü', '"a', '""'])('%j is malformed', async (key) => {
    expect((await counting().withKey(key)).status).toBe(400)
  })

  test('never keeps an answer that holds a secret', async () => {
    const { store, finished } = memoryStore()
    const service = testService({ idempotency: store })
    service.handle(count, () => 1, { secretAnswer: true })
    await send(service, '/count', { body: '{}', headers: { 'idempotency-key': 'k' } })
    expect(finished).toEqual([null])
  })

  test('whose answer cannot be stored does not change the answer', async () => {
    const { store, service, withKey } = counting()
    store.finish = () => Promise.reject(new Error('the database is away'))
    expect((await withKey('k')).text).toBe('1')
    expect(service.lines.map(({ level }) => level)).toEqual([40, 30])
  })
})

test('an answer of bytes goes out as it is, first and again', async () => {
  const service = testService({ idempotency: memoryStore().store })
  service.handle(count, () => new JsonBytes(Buffer.from('7.0')))
  const send7 = (headers = {}) => send(service, '/count', { body: '{}', headers })
  const answers = [await send7(), await send7({ 'idempotency-key': 'k' }), await send7({ 'idempotency-key': 'k' })]
  expect(answers.map(({ text }) => text)).toEqual(['7.0', '7.0', '7.0'])
  expect(answers.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, null, 'true'])
})
