import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldData, SEGMENT } from './data-log.ts'
import { saySame } from './say-same.ts'

/** A member in pieces, as its text is made of them. */
type Member = { name: string; key: string; beforeColon: string; beforeValue: string; value: string; behind: string }

/** `data` or a patch of it: an object with what stands around its members, or any other text. */
type Data = { before: string; members: Member[]; after: string } | string

const textOf = (data: Data): string => {
  if (typeof data === 'string') return data
  const members = data.members.map((one) => `${one.key}${one.beforeColon}:${one.beforeValue}${one.value}${one.behind}`)
  return `${data.before}{${members.join(',')}}${data.after}`
}

/** The members as JSON.parse sees them: each name at its first place, with what stands at its last. */
const distinct = (members: Member[]): Member[] => [...new Map(members.map((one) => [one.name, one])).values()]

const patched = (base: Data, patch: Data): Data => {
  if (typeof base === 'string' || typeof patch === 'string') return patch
  const members = [...base.members]
  for (const { name, key, value } of distinct(patch.members)) {
    const at = members.findLastIndex((one) => one.name === name)
    if (at !== -1) members[at] = { ...members[at]!, value }
    else {
      const end = members.pop()
      if (end) members.push({ ...end, behind: '' })
      members.push({ name, key, beforeColon: '', beforeValue: '', value, behind: end?.behind ?? '' })
    }
  }
  const isMade = base.members.length === 0 && members.length > 0
  return isMade ? { before: '', members, after: '' } : { ...base, members }
}

const space = fc.constantFrom('', '', ' ', '\n\t')
const key = fc.constantFrom(
  '"a"',
  '"\\u0061"',
  '"b"',
  '"b\\n"',
  '""',
  '"__proto__"',
  '"}"',
  '"\\ud800"',
  '"1"',
  '"/"',
  '"\\/"',
)
const value = fc.constantFrom('1', '1.0', '"}"', '"\\""', 'null', '[1,{"a":"]"}]', '{"b" :2}', '12345678901234567890')
const member = fc
  .record({ key, beforeColon: space, beforeValue: space, value, behind: space })
  .map((one): Member => ({ ...one, name: JSON.parse(one.key) as string }))
const object = fc.record({ before: space, members: fc.array(member, { maxLength: 6 }), after: space })
const other = fc.constantFrom('[{"a":1}]', ' null ', '"{"', '1')
const data: fc.Arbitrary<Data> = fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: other })

test('patches change the text of the values they name, add what is new behind the rest, and touch nothing else', () => {
  const logs = fc.array(data, { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(logs, (log) => {
      expect(foldData(log.map(textOf).join(SEGMENT))).toBe(textOf(log.reduce(patched)))
    }),
    { numRuns: 1000 },
  )
})

test('members say the same in any order and with any white space, and something else once a value differs', () => {
  const members = fc.uniqueArray(member, { minLength: 1, maxLength: 6, selector: ({ name }) => name })
  const shuffled = members.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), space),
  )
  fc.assert(
    fc.property(shuffled, ([one, another, behind]) => {
      const text = textOf({ before: '', members: one, after: '' })
      const spaced = another.map((each) => ({ ...each, behind }))
      expect(saySame(text, textOf({ before: behind, members: spaced, after: '' }))).toBe(true)
      const [first, ...rest] = spaced as [Member, ...Member[]]
      const changed = { ...first, value: '"other"' }
      for (const different of [[changed, ...rest], rest, [...spaced, { ...changed, key: '"more"', name: 'more' }]])
        expect(saySame(text, textOf({ before: '', members: different, after: '' }))).toBe(false)
    }),
  )
})

test('members say the same exactly when their last values by name do, also where names come twice', () => {
  const object = fc.array(member, { maxLength: 5 })
  const bare = (text: string) => text.replaceAll(' ', '')
  const known = (members: Member[]) => new Map(distinct(members).map((one) => [one.name, bare(one.value)]))
  fc.assert(
    fc.property(object, object, fc.boolean(), (one, another, isRepeat) => {
      const other = isRepeat ? [...another, ...one] : another
      const [texts, others] = [known(one), known(other)]
      const isSame = texts.size === others.size && [...texts].every(([name, text]) => others.get(name) === text)
      const [left, right] = [one, other].map((members) => textOf({ before: '', members, after: '' })) as [
        string,
        string,
      ]
      expect([saySame(left, right), saySame(right, left)]).toEqual([isSame, isSame])
    }),
    { numRuns: 2000 },
  )
})
