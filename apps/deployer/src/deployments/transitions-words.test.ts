import { expect, test } from 'vitest'
import { accepted, after, claim, endpoint, late, LIMITS, noWorkers } from '../fixtures/claims.fixture.ts'
import { reasonMessage } from './messages.ts'

test('a deployment that never served again after one good reading timed out for want of workers', () => {
  const change = after(late({ phase: 'verifying' }), endpoint({ workers: noWorkers }))
  expect(change).toMatchObject({ phase: 'timed_out', reason_code: 'no_workers' })
})

test('a failed build is told in the words of its reason', () => {
  const failed = endpoint({ state: 'failed', reason: 'no such image' })
  const words = reasonMessage('build_failed', 'no such image')
  expect(after(accepted(), failed)).toMatchObject({ reason_code: 'build_failed', status_message: words })
})

test('who waits for the vendor to show the deployment keeps what was said last', () => {
  const waiting = accepted({ acceptedMs: 0, phase: 'building', status_message: 'said before' })
  expect(after(waiting, null).status_message).toBe('said before')
  expect(after({ ...waiting, status_message: null }, null).status_message).toMatch(/\w/)
})

test('a deployment that is seen for the first time when its time in the queue is over goes on', () => {
  const first = claim({ acceptedMs: null, leftMs: null, queuedMs: LIMITS.queueingMs })
  expect(after(first, endpoint({ state: 'building', workers: null }))).toMatchObject({
    phase: 'building',
    accepted: true,
  })
})

test('a teardown that the vendor still shows is looked at again after a while, and says what goes on', () => {
  const change = after(claim({ kind: 'delete', settlesInMs: 0 }), endpoint())
  expect(change).toMatchObject({ phase: 'tearing_down', status_message: expect.stringMatching(/\w/) })
  expect(change.waitMs).toBeGreaterThan(0)
})
