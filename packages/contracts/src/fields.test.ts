import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Base64, isBase64 } from './base64.ts'
import { digitsOr } from './digits.ts'
import {
  FreeFormObject,
  FreeFormObjects,
  FreeFormValue,
  isFreeForm,
  Metadata,
  METADATA_LIMIT_BYTES,
} from './free-form.ts'
import { given, givenOr } from './given.ts'
import { HttpUrl } from './http-url.ts'
import { JsonText, jsonTextOf, writeJson } from './json-text.ts'
import { Id, Name, Text } from './text.ts'

const accepts = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success

describe('base64', () => {
  // RFC 4648 §4, with the bits that padding leaves unused at zero (§3.5).
  const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/

  const letters = fc.stringMatching(/^[A-Za-z0-9+/=\-_ \n]{0,12}$/)
  const almost = fc
    .tuple(fc.base64String(), fc.nat(), letters, fc.boolean())
    .map(([text, at, [letter = ''], isAdded]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + letter + text.slice(isAdded ? place : place + 1)
    })

  test('is accepted in its canonical form only', () => {
    const texts = fc.oneof(fc.base64String(), letters, almost, fc.string())
    fc.assert(
      fc.property(texts, (text) => {
        expect(isBase64(text)).toBe(canonical.test(text))
      }),
      { numRuns: 4000 },
    )
  })

  test.each(['YQ=', 'YQ', 'YR==', 'YWJ=', 'YQ==\n', 'Y Q=', '_-8=', 'YQ=a', '====', 'YQ==YQ=='])(
    '%j is refused',
    (text) => {
      expect(accepts(Base64, text)).toBe(false)
    },
  )

  test('of any length is checked everywhere', () => {
    const text = Buffer.alloc(300_000, 255).toString('base64')
    expect(accepts(Base64, text)).toBe(true)
    expect(accepts(Base64, Buffer.alloc(12_000_000, 255).toString('base64'))).toBe(true)
    const at = fc.integer({ min: 0, max: text.length - 1 })
    const isAccepted = (index: number, other: string) =>
      accepts(Base64, text.slice(0, index) + other + text.slice(index + other.length))
    fc.assert(
      fc.property(at, fc.constantFrom('=', '\n', '-', 'é'), (index, other) => !isAccepted(index, other)),
      { numRuns: 200 },
    )
    // Padding where the text is looked at piece by piece.
    for (const index of [32_764, 32_766, 32_767, 32_768]) expect(isAccepted(index, 'A=')).toBe(false)
  })
})

describe('a number in a query string', () => {
  const limit = digitsOr(50, { minimum: 1, maximum: 1000 })

  test.each<[unknown, number]>([
    [undefined, 50],
    ['1', 1],
    ['1000', 1000],
    ['007', 7],
    [7, 7],
  ])('%j is %j', (value, expected) => {
    expect(limit.parse(value)).toBe(expected)
  })

  test.each([
    '0',
    '1001',
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1.0',
    '1e1',
    '0x10',
    '１',
    'NaN',
    '9'.repeat(400),
    null,
    ['1', '2'],
    1.5,
  ])('%j is refused', (value) => {
    expect(accepts(limit, value)).toBe(false)
  })
})

describe('text', () => {
  test.each<[string, typeof Text, string, boolean]>([
    ['Text', Text, '', true],
    ['Text', Text, 'a\u0001b', true],
    ['Text', Text, 'a\0b', false],
    ['Text', Text, 'a\ud800b', false],
    ['Name', Name, 'owner/repo é 🚀 %', true],
    ['Name', Name, '', false],
    ['Name', Name, 'a\nb', false],
    ['Name', Name, 'a\u0085b', false],
    ['Name', Name, 'a\u007f', false],
    ['Name', Name, '🚀'.repeat(255), true],
    ['Name', Name, '🚀'.repeat(256), false],
    ['Name', Name, 'a'.repeat(256), false],
    ['Id', Id, 'x'.repeat(255), true],
    ['Id', Id, 'é'.repeat(128), false],
    ['Id', Id, '', false],
  ])('%s: %# is accepted or not', (_, schema, text, expected) => {
    expect(accepts(schema, text)).toBe(expected)
  })

  test.each<[string, boolean]>([
    ['http://127.0.0.1:8000', true],
    ['https://agents.example.com/base', true],
    ['HTTPS://EXAMPLE.COM', true],
    ['//example.com', false],
    ['ftp://example.com', false],
    ['javascript:alert(1)', false],
    ['http://user:pass@example.com', false],
    ['http://example.com?x=1', false],
    ['http://example.com#x', false],
    ['http://', false],
    ['https:evil.com', false],
  ])('URL %s: %s', (text, expected) => {
    expect(accepts(HttpUrl, text)).toBe(expected)
  })
})

describe('an optional field', () => {
  test('takes null for "not given", and its default then', () => {
    expect(given(Text).parse(null)).toBeUndefined()
    expect(givenOr(Text, 'x').parse(null)).toBe('x')
    expect(givenOr(Text, 'x').parse(undefined)).toBe('x')
    expect(givenOr(Text, 'x').parse('')).toBe('')
    expect(accepts(given(Text), 5)).toBe(false)
  })
})

describe('free-form JSON', () => {
  const objects: unknown[] = [{}, { a: 1 }, new JsonText('{"a":1.0}')]
  const lists: unknown[] = [[], [{}, { a: 1 }], new JsonText('[{"a":1}]')]
  const others: unknown[] = [
    '',
    'a',
    1,
    true,
    null,
    [1],
    [[]],
    [null],
    new JsonText('[1]'),
    new JsonText('null'),
    new JsonText('7'),
  ]

  test('is accepted by what it is, as a value or as text', () => {
    for (const value of objects)
      expect([accepts(FreeFormObject, value), accepts(FreeFormObjects, value)]).toEqual([true, true])
    for (const value of lists)
      expect([accepts(FreeFormObject, value), accepts(FreeFormObjects, value)]).toEqual([false, true])
    for (const value of others)
      expect([accepts(FreeFormObject, value), accepts(FreeFormObjects, value)]).toEqual([false, false])
    for (const value of [...objects, ...lists, ...others]) expect(accepts(FreeFormValue, value)).toBe(true)
    expect(accepts(FreeFormValue, undefined)).toBe(false)
  })

  test('is known as such after descriptions, examples and rules were added', () => {
    expect(isFreeForm(FreeFormObject.openapi({ description: 'x', example: {} }).describe('y'))).toBe(true)
    expect(isFreeForm(Metadata)).toBe(true)
    expect(isFreeForm(FreeFormValue.refine(() => true))).toBe(true)
    expect(isFreeForm(Text)).toBe(false)
  })

  test('of a record is limited', () => {
    const text = (bytes: number) => new JsonText(`{"a":"${'x'.repeat(bytes - 8)}"}`)
    expect(accepts(Metadata, text(METADATA_LIMIT_BYTES))).toBe(true)
    expect(accepts(Metadata, text(METADATA_LIMIT_BYTES + 1))).toBe(false)
  })

  test('leaves as the text it came as', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (plain) => {
        expect(JSON.parse(writeJson(plain))).toEqual(JSON.parse(JSON.stringify(plain)))
        const text = JSON.stringify(plain, null, 2)
        expect(writeJson({ before: [1], kept: new JsonText(text), left_out: undefined })).toBe(
          `{"before":[1],"kept":${text}}`,
        )
      }),
    )
    expect(jsonTextOf(new JsonText('{"a": 1.0}'))).toBe('{"a": 1.0}')
    expect(jsonTextOf({ a: 1 })).toBe('{"a":1}')
    expect(writeJson([undefined, null, 'x'])).toBe('[null,null,"x"]')
    expect(new JsonText('null').value).toBeNull()
  })
})
