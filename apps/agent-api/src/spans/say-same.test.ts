import { expect, test } from 'vitest'
import { saySame } from './say-same.ts'

const MEMBERS = Array.from({ length: 100_000 }, (_, index) => `"k${index}":${index}`)
const objectOf = (members: readonly string[]) => `{${members.join(',')}}`
const LARGE = objectOf(MEMBERS)

const msOf = (work: () => void): number => {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** What it costs to find that large objects say the same. */
const wholeMs = (): number => msOf(() => expect(saySame(LARGE, objectOf(MEMBERS.toReversed()))).toBe(true))

test.each([
  ['a name that the other has not', LARGE, '{"a":1}'],
  ['a value that differs', LARGE, '{"k0":1}'],
  ['a large value in the place of a small one', `{"a":[${'1,'.repeat(500_000)}1]}`, '{"a":1}'],
])('three hundred contradictions by %s cost less than to see once that all members are the same', (_, large, small) => {
  const differMs = msOf(() => {
    for (let count = 0; count < 300; count += 1) expect(saySame(large, small)).toBe(false)
  })
  expect(differMs).toBeLessThan(5 * wholeMs())
})

test('many values that differ cost no more than many that do not, also where names may come again', () => {
  const [one, other] = ['1', '2'].map((digit) =>
    objectOf([...MEMBERS.map((member) => member + digit), '"z":"\\u00e9"']),
  )
  expect(msOf(() => expect(saySame(one!, other!)).toBe(false))).toBeLessThan(5 * wholeMs())
})

test.each([
  ['{"a":2,"a":1}', '{"a":1}', true],
  ['{"a":1,"a":2}', '{"a":1}', false],
  ['{"a":2,"\\u0061":1}', '{"a":1}', true],
  ['{"\\u0061":2,"a":1}', '{"a":1}', true],
  ['{"a/b":2,"a\\/b":1}', '{"a/b":1}', true],
  ['{"a":2,"b":"a","a":1}', '{"b":"a","a":1}', true],
  ['{"a":12}', '{"a":1}', false],
  ['{"a":1,"b":2}', '{}', false],
  [' { } ', '{}', true],
  ['[1,2]', '[2,1]', false],
  ['[ 1 ]', '[1]', true],
])('of %s and %s that they say the same is %s', (one, other, isSame) => {
  expect([saySame(one, other), saySame(other, one)]).toEqual([isSame, isSame])
})
