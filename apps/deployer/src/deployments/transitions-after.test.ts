import { describe, expect, test } from 'vitest'
import { accepted, after, claim, endpoint, error, LIMITS, noWorkers } from '../fixtures/claims.fixture.ts'
import type { VendorError } from '../vendors/vendor-error.ts'
import type { Endpoint } from '../vendors/vendor.ts'
import type { Claim } from './deployment.ts'
import { availabilityOf } from './transitions.ts'

describe('429/503/502/504/connect/timeouts -> retry with backoff', () => {
  test('the job stays deploying and the reason shows the last error', () => {
    const change = after(claim(), error('vendor_unavailable', { detail: 'Too many requests' }))
    expect(change).toMatchObject({ phase: 'queued', attempts: 1, reason_code: 'vendor_unavailable', cleanup: false })
    expect(change.model).toEqual({ status_reason: expect.stringContaining('Too many requests') })
  })

  test('never gives up because of their number', () => {
    expect(after(claim({ attempts: 10_000 }), error('vendor_unavailable')).waitMs).not.toBeNull()
  })

  test('pauses double, with jitter, up to a bound', () => {
    const pause = (attempts: number, random: number) =>
      after(claim({ attempts }), error('vendor_unavailable'), random).waitMs
    expect([0, 1, 2, 3].map((attempts) => pause(attempts, 0))).toEqual([500, 1_000, 2_000, 4_000])
    expect([0, 1, 2, 3].map((attempts) => pause(attempts, 0.999)!)).toEqual([1_000, 1_999, 3_998, 7_996])
    expect(pause(500, 0)).toBe(30_000)
  })

  test("the vendor's Retry-After is kept", () => {
    expect(after(claim(), error('vendor_unavailable', { retryAfterMs: 45_000 })).waitMs).toBe(45_000)
  })

  test('a good step forgets earlier failures', () => {
    expect(after(accepted({ attempts: 5 }), endpoint({ state: 'building' }))).toMatchObject({
      attempts: 0,
      reason_code: null,
    })
  })

  test('a write of unknown outcome is remembered as such', () => {
    expect(after(claim(), error('vendor_unavailable', { uncertain: true })).uncertain).toBe(true)
    expect(after(claim(), error('vendor_unavailable')).uncertain).toBe(false)
  })
})

describe('what an update that failed leaves', () => {
  const update = (over: Partial<Claim> = {}) => accepted({ kind: 'update', model_availability: 'available', ...over })
  const failed = (workers: Endpoint['workers']) => endpoint({ state: 'failed', workers })

  test('the old version still serves: failed and available, nothing is removed', () => {
    const change = after(update(), failed({ available: 1, unavailable: 1, wanted: 2 }))
    expect(change).toMatchObject({ model: { status: 'failed', model_availability: 'available' }, cleanup: false })
  })

  test('nothing serves: failed and unavailable, and what is left is removed', () => {
    const change = after(update(), failed(noWorkers))
    expect(change).toMatchObject({ model: { status: 'failed', model_availability: 'unavailable' }, cleanup: true })
  })

  test('nobody can tell: unknown, and nothing is removed', () => {
    expect(after(update(), failed(null))).toMatchObject({ model: { model_availability: 'unknown' }, cleanup: false })
  })

  test('refused by the vendor: whatever served still does', () => {
    const refused = after(update({ acceptedMs: null, leftMs: null }), error('vendor_rejected', { retryable: false }))
    expect(refused).toMatchObject({ model: { status: 'failed', model_availability: 'available' }, cleanup: false })
  })

  test('a first deployment that failed leaves nothing, whatever is up', () => {
    const change = after(accepted({ kind: 'create' }), failed({ available: 2, unavailable: 0, wanted: 2 }))
    expect(change).toMatchObject({ model: { model_availability: 'unavailable' }, cleanup: true })
  })
})

describe('delete and cleanup', () => {
  const remove = (over: Partial<Claim> = {}) => claim({ kind: 'delete', model_availability: 'available', ...over })
  const cleanup = (over: Partial<Claim> = {}) => claim({ kind: 'cleanup', ...over })

  test('GET 404 on delete -> success: the model goes', () => {
    expect(after(remove(), null)).toMatchObject({ phase: 'succeeded', model: 'removed', waitMs: null })
  })

  test('a cleanup that is done leaves the model as it is', () => {
    expect(after(cleanup(), null)).toMatchObject({ phase: 'succeeded', model: 'unchanged' })
  })

  test('404 while an earlier write may still bring the endpoint back -> wait', () => {
    expect(after(remove({ settlesInMs: 12_000 }), null)).toMatchObject({
      phase: 'queued',
      waitMs: 12_000,
      model: 'unchanged',
    })
  })

  test('DELETE_IN_PROGRESS -> look again, the model shows nothing of it', () => {
    const change = after(remove(), endpoint({ state: 'deleting' }))
    expect(change).toMatchObject({ phase: 'tearing_down', model: 'unchanged' })
    expect(change.waitMs).not.toBeNull()
  })

  test('the vendor refuses at once -> the delete fails, the record stays and nobody knows what serves', () => {
    const change = after(remove(), error('vendor_unauthorized', { retryable: false }))
    expect(change).toMatchObject({ phase: 'failed', reason_code: 'vendor_unauthorized', cleanup: false })
    expect(change.model).toEqual({ model_availability: 'unknown' })
  })

  test('500 "deletion of endpoint failed" -> tried again, and failed after a number of tries', () => {
    expect(after(remove(), error('vendor_error')).waitMs).not.toBeNull()
    expect(after(remove({ attempts: 7 }), error('vendor_error'))).toMatchObject({
      phase: 'failed',
      reason_code: 'vendor_error',
    })
  })

  test('not gone within the limit -> timed out, the record stays', () => {
    const slow = remove({ phase: 'tearing_down', queuedMs: LIMITS.teardownMs })
    expect(after(slow, endpoint({ state: 'deleting' }))).toMatchObject({
      phase: 'timed_out',
      reason_code: 'teardown_timeout',
    })
  })

  test.each<[string, Partial<Claim>, Endpoint | null | VendorError]>([
    ['the vendor still removes', { phase: 'tearing_down' }, endpoint({ state: 'deleting' })],
    ['the vendor is away after a removal', { phase: 'tearing_down' }, error('vendor_unavailable')],
    ['its first removal got no answer', {}, error('vendor_unavailable', { uncertain: true })],
    ['an earlier worker died over it', { mayHaveActed: true }, error('vendor_unavailable')],
    ['it is gone, but a late create may bring it back', { settlesInMs: 1 }, null],
  ])('given up when %s -> not ready any more, and the rest is removed', (_case, over, seen) => {
    const change = after(remove({ queuedMs: LIMITS.teardownMs, ...over }), seen)
    expect(change).toMatchObject({ phase: 'timed_out', reason_code: 'teardown_timeout', cleanup: true })
    const model = { status: 'failed', status_reason: change.status_message, model_availability: 'unavailable' }
    expect(change.model).toEqual(model)
  })

  test('given up before anything was sent -> the model stays as it is', () => {
    const change = after(remove({ queuedMs: LIMITS.teardownMs }), error('vendor_unavailable'))
    expect(change).toMatchObject({ phase: 'timed_out', model: { model_availability: 'unknown' }, cleanup: false })
  })

  test('a cleanup tries on whatever the vendor says, until its own limit', () => {
    const refusal = error('vendor_unauthorized', { retryable: false })
    expect(after(cleanup({ attempts: 500 }), refusal).waitMs).not.toBeNull()
    expect(after(cleanup({ queuedMs: LIMITS.cleanupMs }), refusal)).toMatchObject({
      phase: 'timed_out',
      model: 'unchanged',
    })
  })
})

describe('model_availability', () => {
  test.each([
    ['nothing there', null, 'unavailable'],
    ['workers not counted', endpoint({ workers: null }), 'unknown'],
    ['a worker up', endpoint({ workers: { available: 1, unavailable: 4, wanted: 5 } }), 'available'],
    ['no worker up', endpoint({ workers: noWorkers }), 'unavailable'],
    ['scaled to zero', endpoint({ workers: { available: 0, unavailable: 0, wanted: 0 } }), 'available'],
    [
      'scaled to zero, update failed',
      endpoint({ state: 'failed', workers: { available: 0, unavailable: 0, wanted: 0 } }),
      'unknown',
    ],
  ] as const)('%s -> %s', (_case, seen, availability) => {
    expect(availabilityOf(seen)).toBe(availability)
  })
})
