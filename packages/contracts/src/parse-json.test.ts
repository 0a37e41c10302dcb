import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson, readJson } from './parse-json.ts'

const escaped = (text: string): string => {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
}

/** The text of a value, some of its strings with every character escaped, as Python's `json` does beyond ASCII. */
const textOf = (value: unknown, isEscaped: () => boolean): string => {
  const quoted = (text: string) => (isEscaped() ? escaped(text) : JSON.stringify(text))
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[ ${value.map((item) => textOf(item, isEscaped)).join(' , ')} ]`
  const members = Object.entries(value).map(([name, member]) => `${quoted(name)} :${textOf(member, isEscaped)}`)
  return `{${members.join(',\n')}}`
}

const ESCAPED = ['\\', '"', '\n']
const PLAIN = ['u', '0', 'a', 'é', '名', '😀', '/']

const valuesOf = (units: string[]) => {
  const names = fc.string({ unit: fc.constantFrom(...units) })
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, false, 0, -1.5, 1e21),
      fc.string({ unit: fc.constantFrom(...ESCAPED, ...PLAIN) }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value
}

test.each([
  ['that must be escaped', [...ESCAPED, ...PLAIN]],
  ['that need no escapes', PLAIN],
])('a text with names %s says what it was made of, whatever names were read before it', (_name, units) => {
  fc.assert(
    fc.property(valuesOf(units), fc.infiniteStream(fc.boolean()), (value, coin) => {
      const text = textOf(value, () => coin.next().value)
      expect(parseJson(text)).toEqual(value)
      expect(readJson(text)).toEqual(value)
    }),
    { numRuns: 2000 },
  )
})

test.each(['\\', '\\u', '\\u0', '\\u00'])('the name %s of one caller does not become that of the next', (name) => {
  const theirs = { [`first ${name}`]: 0, [name]: 1 }
  expect(parseJson(JSON.stringify(theirs))).toEqual(theirs)
  const own = { [`first ${name}`]: 0, ['é'.repeat(name.length)]: 1 }
  expect(parseJson(textOf(own, () => true))).toEqual(own)
  const text = `{${JSON.stringify(`first ${name}`)}:0,${escaped('é'.repeat(name.length))}:1}`
  expect(parseJson(text)).toEqual(own)
})

test.each(['', '{', '{"\\u00e9":}', '{"\\x":1}', '{"\\u00e9":1}}', '[1,]'])('%j is refused', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError)
})

// Not compared with `JSON.parse` itself, which may be mistaken by now.
test.each([
  ['{"\\u005f_proto__":1}', '__proto__', 1],
  ['{"a":1,"\\u0061":2}', 'a', 2],
])('%s is read as JSON.parse should', (text, name, value) => {
  const own = Object.getOwnPropertyDescriptors(parseJson(text))
  expect(own).toEqual(Object.getOwnPropertyDescriptors(Object.fromEntries([[name, value]])))
})

test('numbers may stay what was written', () => {
  expect(readJson('{"a":[1.0,1e400,true,null,"1.0"]}', (source) => source)).toEqual({
    a: ['1.0', '1e400', 'true', 'null', '1.0'],
  })
})
