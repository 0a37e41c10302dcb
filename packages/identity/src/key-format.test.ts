import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checksum, generateKey, hintOf, isKey, KEY_PATTERN, KEY_PREFIXES, type KeyKind } from './key-format.ts'

const KINDS = Object.keys(KEY_PREFIXES) as KeyKind[]
const kind = fc.constantFrom(...KINDS)

test('the checksum is the one of the published GitHub token format', () => {
  expect(checksum('zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ')).toBe('0mLq17')
})

test('the checksum is CRC-32 in base62, six digits even when it is small', () => {
  expect(checksum('')).toBe('000000')
  expect(checksum('123456789')).toBe('3jZRME')
})

test.each(KINDS)(
  'a generated %s key has its prefix, 43 random characters and a checksum, and is a key of that kind only',
  (kind) => {
    const key = generateKey(kind)
    expect(key).toMatch(new RegExp(`^${KEY_PREFIXES[kind]}_[0-9A-Za-z]{49}$`))
    expect(KINDS.filter((other) => isKey(key, other))).toEqual([kind])
  },
)

test('ten thousand keys are all different and use every character about equally often', () => {
  const keys = Array.from({ length: 10_000 }, () => generateKey('user'))
  expect(new Set(keys).size).toBe(keys.length)
  const characters = keys.map((key) => key.slice(7, 50)).join('')
  const counts = Map.groupBy(characters.matchAll(/./g), ([character]) => character)
  expect(counts.size).toBe(62)
  const expected = (10_000 * 43) / 62
  for (const { length } of counts.values()) expect(Math.abs(length - expected)).toBeLessThan(expected * 0.08)
})

test('one changed character is always noticed, in the prefix too', () => {
  fc.assert(
    fc.property(kind, fc.nat(48), fc.constantFrom('0', 'a', 'Z', '9', 'x'), (kind, place, character) => {
      const key = generateKey(kind)
      const at = KEY_PREFIXES[kind].length + 1 + place
      const changed = key.slice(0, at) + character + key.slice(at + 1)
      return changed === key || !isKey(changed, ...(KINDS as [KeyKind]))
    }),
  )
  const key = generateKey('user')
  expect(isKey(key.replace('kluser', 'klagent'), 'agent')).toBe(false)
})

test('whatever is no key is refused without an error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      (text) => !isKey(text, 'user', 'service_account', 'agent'),
    ),
  )
  const key = generateKey('user')
  const near = [`${key} `, ` ${key}`, `${key}\n`, `${key},${key}`, key.toUpperCase(), key.slice(0, -1), `${key}0`, '']
  expect(near.filter((text) => isKey(text, 'user'))).toEqual([])
})

test('keys are found inside other text, whatever stands around them', () => {
  fc.assert(
    fc.property(
      kind,
      fc.constantFrom('', ' ', '"', '=', '\n', '_', '.'),
      fc.constantFrom('', ' ', '"', ',', '\n', '_', '.'),
      (kind, before, after) => {
        const key = generateKey(kind)
        expect(`${before}${key}${after}`.match(KEY_PATTERN)).toEqual([key])
      },
    ),
  )
  expect(`x${generateKey('user')}`.match(KEY_PATTERN)).toBeNull()
})

test('the hint shows the prefix and four characters', () => {
  expect(hintOf('klsvc_AbCdEfGh')).toBe('klsvc_AbCd')
})
