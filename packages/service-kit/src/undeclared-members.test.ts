import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'

const read = jsonReader(shapeOf(z.object({ name: z.string() })))
const readText = (text: string) => read(Buffer.from(text))
const body = (value: string) => `{"name":"n","unknown": ${value} }`
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('of a member that an object does not declare', () => {
  test.each([
    '1e400',
    '12345678901234567890',
    '"\\u0000"',
    '{"a":1,"a":[1.00000000000000001]}',
    '{"__proto__":1}',
    nested(127),
  ])('%s is not looked at', (value) => expect(readText(body(value))).toMatchObject({ name: 'n' }))

  test.each([
    ['one level too many', body(nested(128)), 'invalid_request'],
    ['its name given twice', '{"name":"n","unknown":1,"unknown":1}', 'malformed_json'],
    ['what is no JSON', body('{"a" 1}'), 'malformed_json'],
  ])('%s is refused', (_name, text, code) => {
    expect(() => readText(text)).toThrow(expect.objectContaining({ code }))
  })
})
