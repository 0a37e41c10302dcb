import { describe, expect, test } from 'vitest'
import { isLinearizable, type Operation } from './linearizable.ts'

type Access = { write: number } | { read: number }

const REGISTER = {
  initial: 0,
  apply: (state: number, what: Access) => ('write' in what ? [what.write] : what.read === state ? [state] : []),
}

/** `[start, end, what]`; an end of `null` is a call that nobody heard the end of. */
const history = (...calls: [number, number | null, Access][]): Operation<Access>[] =>
  calls.map(([startedMs, endedMs, what]) => ({ startedMs, endedMs: endedMs ?? 0, isKnown: endedMs !== null, what }))

test('hundreds of calls that nobody heard the end of do not make it slow', () => {
  const lost = Array.from({ length: 300 }, (_, index) => [index, null, { write: index % 40 }] as const)
  const seen = Array.from({ length: 40 }, (_, index) => [300 + index, 300.5 + index, { read: index }] as const)
  const calls = [...lost, ...seen].map(([start, end, what]): [number, number | null, Access] => [start, end, what])
  expect(isLinearizable(history(...calls), REGISTER)).toBe(true)
  expect(isLinearizable(history(...calls, [400, 401, { read: 41 }]), REGISTER)).toBe(false)
})

describe('a register', () => {
  test.each([
    ['one after the other', history([0, 1, { write: 1 }], [2, 3, { read: 1 }])],
    [
      'a read during a write sees before or after',
      history([0, 9, { write: 1 }], [1, 2, { read: 0 }], [3, 4, { read: 1 }]),
    ],
    ['an unknown write that shows late', history([0, null, { write: 1 }], [5, 6, { read: 0 }], [7, 8, { read: 1 }])],
    ['an unknown write that never shows', history([0, null, { write: 1 }], [5, 6, { read: 0 }])],
    [
      'two writes at once, in the order that was read',
      history([0, 9, { write: 1 }], [0, 9, { write: 2 }], [10, 11, { read: 1 }]),
    ],
  ])('can be explained: %s', (_, calls) => {
    expect(isLinearizable(calls, REGISTER)).toBe(true)
  })

  test.each([
    ['a lost write', history([0, 1, { write: 1 }], [2, 3, { read: 0 }])],
    ['a value from nowhere', history([0, 1, { read: 7 }])],
    ['back in time', history([0, 9, { write: 1 }], [1, 2, { read: 1 }], [3, 4, { read: 0 }])],
    [
      'an unknown write that comes and goes',
      history([0, null, { write: 1 }], [5, 6, { read: 1 }], [7, 8, { read: 0 }]),
    ],
    ['an unknown write before it began', history([5, null, { write: 1 }], [0, 1, { read: 1 }])],
  ])('cannot be explained: %s', (_, calls) => {
    expect(isLinearizable(calls, REGISTER)).toBe(false)
  })
})
