import { expect, test } from 'vitest'
import { FailedAttempts } from './failed-attempts.ts'

const limiter = (options = {}) => {
  const clock = { ms: 0 }
  return { clock, attempts: new FailedAttempts({ burst: 3, recoveryMs: 1_000, now: () => clock.ms, ...options }) }
}

test('an address is refused once its burst is used up, and told when to come back', () => {
  const { clock, attempts } = limiter()
  for (let failure = 0; failure < 3; failure += 1) {
    expect(attempts.waitSeconds('a')).toBe(0)
    attempts.record('a')
  }
  expect(attempts.waitSeconds('a')).toBe(1)
  clock.ms = 1_000
  expect(attempts.waitSeconds('a')).toBe(0)
})

test('failures of one address do not count against another', () => {
  const { attempts } = limiter()
  for (let failure = 0; failure < 10; failure += 1) attempts.record('a')
  expect(attempts.waitSeconds('a')).toBe(8)
  expect(attempts.waitSeconds('b')).toBe(0)
})

test('failures are forgotten with time', () => {
  const { clock, attempts } = limiter()
  for (let failure = 0; failure < 3; failure += 1) attempts.record('a')
  clock.ms = 60_000
  for (let failure = 0; failure < 2; failure += 1) attempts.record('a')
  expect(attempts.waitSeconds('a')).toBe(0)
})

test('a flood of addresses takes a bounded amount of memory', () => {
  const { attempts } = limiter({ burst: 1, maxAddresses: 2 })
  for (const address of ['a', 'b', 'c']) attempts.record(address)
  expect(['a', 'b', 'c'].map((address) => attempts.waitSeconds(address) > 0)).toEqual([false, true, true])
})
