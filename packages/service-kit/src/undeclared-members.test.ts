import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'

const read = jsonReader(shapeOf(z.object({ name: z.string() })))
const readText = (text: string) => read(Buffer.from(text))
const body = (value: string) => `{"name":"n","unknown": ${value} }`
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

const pathAndMessage = (shape: z.ZodType, text: string): unknown => {
  try {
    return jsonReader(shapeOf(shape))(Buffer.from(text))
  } catch (error) {
    return (error as { errors?: unknown }).errors
  }
}

describe('a name that holds U+0000 or half of a surrogate pair', () => {
  test.each(['\\ud800', '\\u0000'])('%s is no declared one, so it is ignored like any other', (name) => {
    expect(readText(`{"name":"n","${name}":1}`)).toMatchObject({ name: 'n' })
  })

  const message = 'a name holds U+0000 or half of a surrogate pair'
  const labels = z.object({ name: z.string(), labels: z.record(z.string(), z.string()) })
  test.each([
    ['where any name is read', z.unknown(), '{"a":1,"\\ud800":1}', ''],
    ['in a record', labels, '{"name":"n","labels":{"a":"1","\\u0000":"2"}}', 'labels'],
    ['where no other is allowed', z.strictObject({ a: z.number() }), '{"a":1,"\\ud800":1}', ''],
  ])('%s is told with the path of its object, not of the member before it', (_name, shape, text, path) => {
    expect(pathAndMessage(shape, text)).toEqual([{ path, message }])
  })
})

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
    ['the name __proto__', '{"name":"n","__proto__":1}', 'invalid_request'],
    ['its name given twice', '{"name":"n","unknown":1,"unknown":1}', 'malformed_json'],
    ['what is no JSON', body('{"a" 1}'), 'malformed_json'],
  ])('%s is refused', (_name, text, code) => {
    expect(() => readText(text)).toThrow(expect.objectContaining({ code }))
  })
})
