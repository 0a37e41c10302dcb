import { describe, expect, test } from 'vitest'
import { accepted, after, claim, endpoint, error, late, LIMITS, noWorkers } from '../fixtures/claims.fixture.ts'

describe('deploying -> ready', () => {
  test('READY, generation confirmed, workers >= target, seen twice -> ready, reason cleared', () => {
    const first = after(accepted(), endpoint())
    expect(first).toMatchObject({
      phase: 'verifying',
      waitMs: LIMITS.confirmMs,
      model: { status_reason: expect.any(String) },
    })
    const second = after(accepted({ phase: 'verifying' }), endpoint())
    expect(second).toMatchObject({ phase: 'succeeded', waitMs: null, cleanup: false })
    expect(second.model).toEqual({ status: 'ready', status_reason: null, model_availability: 'available' })
  })

  test('READY with min_workers 0 -> ready at once: no worker is due', () => {
    const seen = endpoint({ workers: { available: 0, unavailable: 0, wanted: 0 } })
    expect(after(accepted(), seen)).toMatchObject({ phase: 'succeeded', model: { status: 'ready' } })
  })

  test('a crash-looping worker does not make it: the good reading is forgotten with the bad one after it', () => {
    const bad = endpoint({ workers: noWorkers })
    expect(after(accepted({ phase: 'verifying' }), bad).phase).toBe('starting')
    expect(after(accepted({ phase: 'starting' }), endpoint()).phase).toBe('verifying')
  })

  test('an error between two good readings forgets the first', () => {
    expect(after(accepted({ phase: 'verifying' }), error('vendor_unavailable')).phase).toBe('starting')
  })

  test('READY that arrives with the deadline still counts, once', () => {
    expect(after(late(), endpoint())).toMatchObject({ phase: 'verifying', waitMs: LIMITS.confirmMs })
    expect(after(late({ phase: 'verifying' }), endpoint())).toMatchObject({ phase: 'succeeded' })
  })

  test('an update waits for workers that do not come up while old ones still serve', () => {
    const rolling = endpoint({ workers: { available: 2, unavailable: 1, wanted: 2 } })
    expect(after(accepted({ kind: 'update' }), rolling).phase).toBe('starting')
    expect(after(accepted({ kind: 'create' }), rolling).phase).toBe('verifying')
  })

  test('READY of an older generation is a stale reading, not ours', () => {
    const change = after(accepted({ acceptedMs: 5_000, phase: 'submitted' }), endpoint({ generation: 2 }))
    expect(change).toMatchObject({ phase: 'submitted', reason_code: null })
    expect(change.waitMs).not.toBeNull()
  })
})

describe('deploying goes on', () => {
  test.each([
    ['UPDATE_PENDING', 'pending', 'submitted'],
    ['UPDATE_IN_PROGRESS', 'building', 'building'],
    ['DELETE_IN_PROGRESS', 'deleting', 'submitted'],
  ] as const)('%s -> deploying', (_status, state, phase) => {
    expect(after(accepted(), endpoint({ state, workers: null }))).toMatchObject({ phase, attempts: 0, cleanup: false })
  })

  test('READY but available_workers below target -> deploying, saying how many', () => {
    const change = after(accepted(), endpoint({ workers: { available: 1, unavailable: 1, wanted: 2 } }))
    expect(change).toMatchObject({
      phase: 'starting',
      model: { status_reason: expect.stringContaining('1 of 2 workers') },
    })
  })

  test('READY before the vendor has counted workers -> deploying', () => {
    expect(after(accepted(), endpoint({ workers: null })).phase).toBe('starting')
  })

  test('the deadline starts with the acceptance, and seeing our generation is one', () => {
    expect(after(claim(), endpoint({ state: 'pending' })).accepted).toBe(true)
    expect(after(claim(), endpoint({ state: 'pending', generation: 2 })).accepted).toBe(false)
    expect(after(claim(), null).accepted).toBe(false)
  })

  test('looks come an eighth of the elapsed time apart, within bounds, and never later than the deadline', () => {
    const building = endpoint({ state: 'building' })
    expect(after(accepted({ acceptedMs: 100 }), building).waitMs).toBe(1_000)
    expect(after(accepted({ acceptedMs: 40_000 }), building).waitMs).toBe(5_000)
    expect(after(accepted({ acceptedMs: 900_000 }), building).waitMs).toBe(15_000)
    expect(after(accepted({ acceptedMs: 900_000, leftMs: 700 }), building).waitMs).toBe(700)
  })
})

describe('deploying -> failed', () => {
  test("UPDATE_FAILED of our generation -> failed, the vendor's reason in the status_reason", () => {
    const change = after(accepted(), endpoint({ state: 'failed', reason: 'Image build failed.', workers: null }))
    expect(change).toMatchObject({ phase: 'failed', reason_code: 'build_failed', cleanup: true, waitMs: null })
    expect(change.model).toMatchObject({
      status: 'failed',
      status_reason: expect.stringContaining('Image build failed.'),
    })
  })

  test('UPDATE_FAILED of an older generation decides nothing', () => {
    const change = after(accepted({ acceptedMs: 5_000 }), endpoint({ state: 'failed', generation: 2 }))
    expect(change.waitMs).not.toBeNull()
  })

  test.each(['vendor_rejected', 'image_not_found', 'credential_not_found', 'vendor_not_configured'] as const)(
    "create 400/404/422, %s -> failed with the vendor's words, no retry",
    (reason) => {
      const change = after(claim(), error(reason, { retryable: false, detail: 'num_shards must equal gpus' }))
      expect(change).toMatchObject({ phase: 'failed', reason_code: reason, cleanup: true, waitMs: null })
      expect(change.status_message).toContain('num_shards must equal gpus')
    },
  )

  test("401/403 -> failed: the vendor rejected the deployer's key", () => {
    const change = after(claim(), error('vendor_unauthorized', { retryable: false }))
    expect(change).toMatchObject({ phase: 'failed', reason_code: 'vendor_unauthorized' })
    expect(change.status_message).toContain('operator')
  })

  test('401/403 while only watching -> tried again until the deadline', () => {
    expect(after(accepted(), error('vendor_unauthorized', { retryable: false })).waitMs).not.toBeNull()
  })

  test.each(['vendor_error', 'internal_error'] as const)(
    '%s may be permanent: failed after a number of tries',
    (reason) => {
      expect(after(claim({ attempts: 6 }), error(reason))).toMatchObject({ phase: 'queued', attempts: 7 })
      expect(after(claim({ attempts: 7 }), error(reason))).toMatchObject({ phase: 'failed', reason_code: reason })
    },
  )

  test('404 while waiting -> failed, after two cache windows and a second look', () => {
    expect(after(accepted({ acceptedMs: 29_999 }), null)).toMatchObject({ phase: 'building', reason_code: null })
    const once = after(accepted({ acceptedMs: 30_000 }), null)
    expect(once).toMatchObject({ phase: 'building', reason_code: 'endpoint_missing' })
    const twice = after(accepted({ acceptedMs: 32_000, reason_code: 'endpoint_missing' }), null)
    expect(twice).toMatchObject({ phase: 'failed', reason_code: 'endpoint_missing', model: { status: 'failed' } })
  })

  test('another generation while waiting -> failed, after two cache windows and a second look', () => {
    const other = endpoint({ generation: 2 })
    expect(after(accepted({ acceptedMs: 31_000 }), other).reason_code).toBe('endpoint_overwritten')
    const twice = after(accepted({ acceptedMs: 32_000, reason_code: 'endpoint_overwritten' }), other)
    expect(twice).toMatchObject({ phase: 'failed', reason_code: 'endpoint_overwritten' })
  })
})

describe('deploying -> deployment_timeout', () => {
  test.each([
    ['pending', 'submitted', 'build_timeout'],
    ['building', 'building', 'build_timeout'],
  ] as const)('stuck in progress (%s) past the deadline', (state, phase, reason_code) => {
    const change = after(late({ phase }), endpoint({ state, workers: null }))
    expect(change).toMatchObject({
      phase: 'timed_out',
      reason_code,
      cleanup: true,
      model: { status: 'deployment_timeout' },
    })
  })

  test('READY with too few workers past the deadline, the last count in the reason', () => {
    const stuck = late({ phase: 'starting', status_message: 'The deployment is built; 0 of 2 workers are available.' })
    const change = after(stuck, endpoint({ workers: noWorkers }))
    expect(change).toMatchObject({ phase: 'timed_out', reason_code: 'no_workers', cleanup: true })
    expect(change.status_message).toContain('0 of 2 workers')
  })

  test('not accepted within the limit on queueing', () => {
    const change = after(claim({ queuedMs: 3_600_000 }), error('vendor_unavailable'))
    expect(change).toMatchObject({
      phase: 'timed_out',
      reason_code: 'queue_timeout',
      model: { status: 'deployment_timeout' },
    })
  })

  test('the limit on queueing is not counted against the building', () => {
    expect(after(accepted({ queuedMs: 9_000_000 }), endpoint({ state: 'building' })).waitMs).not.toBeNull()
  })

  test('a vendor that cannot be reached past the deadline', () => {
    expect(after(late(), error('vendor_unavailable'))).toMatchObject({
      phase: 'timed_out',
      reason_code: 'build_timeout',
    })
  })
})
