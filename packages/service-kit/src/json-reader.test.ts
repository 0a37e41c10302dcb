import { FreeFormObject, FreeFormValue, JsonText } from '@keelson/contracts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from './api-error.ts'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const typed = jsonReader(shapeOf(z.unknown()))
const free = jsonReader(shapeOf(FreeFormValue))

const refusal = (
  read: (bytes: Uint8Array) => unknown,
  input: string | Uint8Array,
): { code: string; errors?: unknown; message?: string } => {
  try {
    read(typeof input === 'string' ? bytes(input) : input)
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, errors: error.errors, message: error.message }
    throw error
  }
  return { code: 'accepted' }
}
const codeOf = (read: (bytes: Uint8Array) => unknown, input: string | Uint8Array) => refusal(read, input).code

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** JSON text with white space, escapes and number forms that `JSON.stringify` never writes. */
const spacedJson = fc.letrec<{ value: string }>((tie) => {
  const space = fc.constantFrom('', ' ', '\n', '\t \r')
  const text = fc.oneof(
    fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
    fc.constantFrom('"\\u0041"', '"\\\\"', '"\\\\\\""', '"\\/"', '"{[,:]}"', '"]}"', '""'),
  )
  const number = fc.constantFrom('0', '-0', '1.0', '1E2', '9007199254740993', '1e400', '-12.5e-3')
  const pad = (inner: fc.Arbitrary<string>) => fc.tuple(space, inner, space).map((parts) => parts.join(''))
  const list = fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`)
  // Of a name given twice the engine takes either value, and of names with escapes one for another, see `parseJson`.
  const member = fc.tuple(pad(text.filter((name) => !name.includes('\\'))), tie('value'))
  const members = fc.uniqueArray(member, { maxLength: 4, selector: ([name]): unknown => JSON.parse(name) })
  const object = members.map((pairs) => `{${pairs.map(([name, value]) => `${name}:${value}`).join(',')}}`)
  return { value: pad(fc.oneof({ maxDepth: 4 }, text, number, fc.constantFrom('true', 'false', 'null'), list, object)) }
}).value

describe('what is no JSON', () => {
  test('is refused exactly when JSON.parse refuses it, whatever the text', () => {
    const damaged = fc.tuple(
      spacedJson,
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', ']', '{', '\\', ':', '1', 'x', '\u{feff}'),
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      damaged.map(
        ([text, at, insert]) =>
          text.slice(0, at % (text.length + 1)) + insert + text.slice((at % (text.length + 1)) + 1),
      ),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-', 'null', ' ', '\\', '\\u0000'), {
          maxLength: 12,
        })
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (raw) => {
        const text = raw.toWellFormed()
        expect(codeOf(free, text) !== 'malformed_json').toBe(isJson(text))
        expect(isJson(text) || codeOf(typed, text) === 'malformed_json').toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test('never throws anything untyped, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (input) => {
        expect(['accepted', 'malformed_json', 'invalid_request']).toContain(codeOf(typed, input))
      }),
    )
  })

  test.each([
    ['a byte order mark', '\u{feff}{}'],
    ['nothing', ''],
    ['NaN', '{"a":NaN}'],
    ['a body that ends early', '{"name":'],
    ['a body with more after it', '{} {}'],
  ])('%s is malformed', (_name, text) => {
    expect(codeOf(typed, text)).toBe('malformed_json')
  })

  test.each([
    ['a stray byte', [0x22, 0xff, 0xfe, 0x22]],
    ['an overlong NUL', [0x22, 0xc0, 0x80, 0x22]],
    ['a surrogate as UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])('%s is malformed', (_name, input) => {
    expect(codeOf(typed, Uint8Array.from(input))).toBe('malformed_json')
  })

  test.each([
    ['{"payload": "hunter2" "x"}', 'The body is not well-formed JSON at position 22'],
    ['{"payload":', 'The body is not well-formed JSON'],
    ['\u{feff}{}', 'The body begins with a byte order mark'],
    [Uint8Array.of(0xff), 'The body is not valid UTF-8'],
    ['{"hunter2":1,"hunter2":2}', 'An object of the body has the same name twice'],
  ])('%j is told in words that quote nothing of it', (input, message) => {
    expect(refusal(typed, input)).toMatchObject({ code: 'malformed_json', message })
  })
})

const namesOf = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join(',')}}`

describe('outside free-form values', () => {
  test.each([
    ['a name twice', '{"a":1,"a":1}', 'malformed_json'],
    ['a name twice by escape', '{"a":1,"\\u0061":1}', 'malformed_json'],
    ['__proto__', '{"a":{"__proto__":1}}', 'invalid_request'],
    ['__proto__ by escape', '{"\\u005f_proto__":1}', 'invalid_request'],
    ['1e400', '{"n":1e400}', 'invalid_request'],
    ['U+0000 in text', '"\\u0000"', 'invalid_request'],
    ['U+0000 in a name', '{"\\u0000":1}', 'invalid_request'],
    ['half of a surrogate pair', '["\\ud800"]', 'invalid_request'],
    ['200,001 items', `[${'0,'.repeat(200_000)}0]`, 'invalid_request'],
    ['200,001 names', namesOf(200_001), 'invalid_request'],
    ['129 levels', '['.repeat(129) + ']'.repeat(129), 'invalid_request'],
    ['129 levels of objects', `${'{"a":'.repeat(129)}1${'}'.repeat(129)}`, 'invalid_request'],
    ['129 levels that never end', '['.repeat(129), 'invalid_request'],
  ])('%s is refused', (_name, text, code) => {
    expect(codeOf(typed, text)).toBe(code)
  })

  test('a name twice among many is refused, whichever it is', () => {
    const names = Array.from({ length: 40 }, (_, index) => `k${index}`)
    const bodyOf = (list: string[]) => `{${list.map((name) => `"${name}":1`).join(',')}}`
    expect(codeOf(typed, bodyOf(names))).toBe('accepted')
    for (const name of names) expect(codeOf(typed, bodyOf([...names, name]))).toBe('malformed_json')
  })

  test.each([
    '1.0',
    '-0',
    '-0.0e7',
    '"\\ud83d\\ude00"',
    '"\\\\u0000"',
    '{"constructor":1,"toString":2}',
    '['.repeat(128) + ']'.repeat(128),
    `${'{"a":['.repeat(64)}1${']}'.repeat(64)}`,
    '[true,false,null]',
  ])('%s is accepted as JSON.parse has it', (text) => {
    expect(typed(bytes(text))).toStrictEqual(JSON.parse(text))
  })

  test('as many members as validation is willing to look at are accepted', () => {
    const lists = [`[${'0,'.repeat(199_999)}0]`, `[${'[],'.repeat(199_999)}[]]`]
    for (const text of [...lists, namesOf(200_000)]) expect(codeOf(typed, text)).toBe('accepted')
  })

  test('a flaw is told with its place, and without names that the caller made up', () => {
    const counted = z.object({ count: z.number() })
    const members = { list: z.array(counted), map: z.record(z.string(), counted), any: z.unknown() }
    const read = jsonReader(shapeOf(z.object(members)))
    const at = (text: string) => refusal(read, text).errors
    expect(at('{"list":[{"count":0},{"count":1e400}]}')).toMatchObject([{ path: 'list.1.count' }])
    expect(at('{"list":[{"__proto__":0}]}')).toMatchObject([{ path: 'list.0.*' }])
    expect(at('{"map":{"my password":{"count":1e400}}}')).toMatchObject([{ path: 'map.*.count' }])
    expect(at('{"any":[[1e400]]}')).toMatchObject([{ path: 'any.0.0' }])
    expect(at('{"list":[{"count":0}],"any":[{},[],{"x":[]},1e400]}')).toMatchObject([{ path: 'any.3' }])
  })

  test.each([
    ['a name of the engine', '{"__proto__":1}', '*', 'the name __proto__ is not accepted'],
    ['a number', '[1e400]', '0', 'the number cannot be held exactly'],
    ['a text', '["\\u0000"]', '0', 'the text holds U+0000 or half of a surrogate pair'],
    ['a crowd', `[${'0,'.repeat(200_000)}0]`, '200000', 'the body has more than 200000 members'],
    ['a depth', '['.repeat(129), '0', 'must not be nested deeper than 128 levels'],
  ])('%s is told as it is', (_name, text, path, message) => {
    expect(refusal(typed, text).errors).toEqual([{ path, message }])
  })

  test('every JSON value without such flaws is accepted as JSON.parse has it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('__proto__') && !text.includes('\\u0000'))
        expect(typed(bytes(text))).toStrictEqual(JSON.parse(text))
      }),
    )
  })
})

describe('free-form values', () => {
  const schema = z.object({
    data: FreeFormObject.nullish(),
    items: z.array(z.object({ any: FreeFormValue })).optional(),
  })
  const read = jsonReader(shapeOf(schema))

  test('arrive as the text they were sent as, byte for byte, with the value it stands for', () => {
    const body = fc.tuple(spacedJson, spacedJson, fc.constantFrom('', '  ', '\n'))
    fc.assert(
      fc.property(body, ([first, second, space]) => {
        const text = `{"items":[{"any":${first}},${space}{${space}"any"${space}:${second}}]}`
        const { items } = read(bytes(text)) as { items: { any: unknown }[] }
        for (const [index, sent] of [first, second].entries()) {
          const value = items[index]!.any
          expect(value instanceof JsonText ? value.text : String(value)).toBe(sent.trim())
          expect(value instanceof JsonText ? value.value : value).toStrictEqual(JSON.parse(sent))
        }
      }),
    )
  })

  test.each([
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '{"n":9007199254740993,"m":1e400,"f":1.0}',
    '{"s":"\\u0000\\ud800"}',
    '{ "b" :1, "a":2 }',
  ])('%s is kept as it is', (text) => {
    const { data } = read(bytes(`{"data":${text}}`)) as { data: JsonText }
    expect(data.text).toBe(text)
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })

  test('null stays null, so that it can mean "not given"', () => {
    expect(schema.parse(read(bytes('{"data":null}')))).toEqual({ data: null })
  })

  test('nesting counts from the top of the body', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const data = (levels: number) => `{"data":${nested(levels - 1)}}`
    const item = (levels: number) => `{"items":[{"any":${nested(levels - 3)}}]}`
    for (const body of [data, item]) {
      expect(codeOf(read, body(128))).toBe('accepted')
      expect(codeOf(read, body(129))).toBe('invalid_request')
    }
  })

  test('a name twice around them is refused', () => {
    expect(codeOf(read, '{"data":{},"data":{}}')).toBe('malformed_json')
  })
})
