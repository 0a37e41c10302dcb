import { expect, test } from 'vitest'
import { circuitBreaker } from './circuit-breaker.ts'

const breaker = () => {
  const time = { now: 0 }
  return { time, ...circuitBreaker({ failures: 3, openMs: 1_000, now: () => time.now }) }
}

test('opens after some failures in a row, for a while', () => {
  const it = breaker()
  it.failed()
  it.failed()
  it.succeeded()
  it.failed()
  it.failed()
  expect(it.refusedForMs()).toBe(0)
  it.failed()
  expect(it.refusedForMs()).toBe(1_000)
  it.time.now = 400
  expect(it.refusedForMs()).toBe(600)
})

test('then lets one call through, whose success closes it', () => {
  const it = breaker()
  for (let failure = 0; failure < 3; failure += 1) it.failed()
  it.time.now = 1_000
  expect(it.refusedForMs()).toBe(0)
  expect(it.refusedForMs()).toBe(1_000)
  it.succeeded()
  expect([it.refusedForMs(), it.refusedForMs()]).toEqual([0, 0])
})

test('and whose failure opens it again', () => {
  const it = breaker()
  for (let failure = 0; failure < 3; failure += 1) it.failed()
  it.time.now = 1_000
  expect(it.refusedForMs()).toBe(0)
  it.failed()
  expect(it.refusedForMs()).toBe(1_000)
})
