import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { bodyBudget } from './body-budget.ts'
import { ACCOUNT, request, send, testService } from './test-service.ts'

const MAX_BYTES = 100
const ACCOUNTS = ['a', 'b', 'c']
const bearer = (account_id: string) => ({ principal: { ...ACCOUNT, account_id, scopes: null }, bodyBytes: 0 })

const isHeld = (hold: () => void): boolean => {
  try {
    hold()
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return false
    throw error
  }
}

const event = fc.oneof(
  fc.record({
    account_id: fc.constantFrom(...ACCOUNTS),
    bytes: fc.integer({ min: 1, max: 120 }),
    isOptional: fc.boolean(),
  }),
  fc.record({ released: fc.nat() }),
)

test('bodies never weigh more than allowed unless one is alone, each account leaves room for the next, and what is released is free', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const budget = bodyBudget(MAX_BYTES, () => {})
      const held: ReturnType<typeof bearer>[] = []
      for (const one of events) {
        const before = budget.heldBytes
        if ('released' in one) {
          const [gone] = held.splice(one.released % Math.max(held.length, 1), 1)
          if (gone) budget.release(gone)
          continue
        }
        const body = bearer(one.account_id)
        const own = held.filter(({ principal }) => principal.account_id === one.account_id)
        const ownBytes = own.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0)
        const hasRoom = before === 0 || ownBytes + one.bytes <= MAX_BYTES - before
        const hold = one.isOptional
          ? () => budget.mayHold(body, one.bytes)
          : () => isHeld(() => budget.hold(body, one.bytes))
        expect(hold()).toBe(hasRoom)
        if (hasRoom) held.push(body)
        expect(budget.heldBytes).toBe(held.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0))
        expect(budget.heldBytes).toBeLessThanOrEqual(Math.max(MAX_BYTES, before, one.bytes))
      }
      for (const body of held) budget.release(body)
      expect(budget.heldBytes).toBe(0)
    }),
  )
})

test('a body for which there is no room is 503 before it is read, and is taken once another request has ended', async () => {
  const service = testService({ limits: { maxBodyBytes: 100 } })
  const body = JSON.stringify({ text: 'x'.repeat(60) })
  let end = () => {}
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(body))
      end = () => controller.close()
    },
  })
  const { url, headers } = request('/notes', { body })
  const slow = service.fetch(new Request(url, { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit))
  await new Promise((resolve) => setImmediate(resolve))
  const refused = await send(service, '/notes', { body })
  expect([refused.status, refused.headers.get('retry-after'), refused.json['code']]).toEqual([503, '1', 'unavailable'])
  expect(await service.metrics.registry.metrics()).toContain('http_requests_shed_total{reason="body_bytes"} 1')
  end()
  expect((await slow).status).toBe(200)
  expect((await send(service, '/notes', { body })).status).toBe(200)
})
