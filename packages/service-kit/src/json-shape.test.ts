import { FreeFormObject, FreeFormObjects, FreeFormValue, JsonText } from '@keelson/contracts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('the shape of a schema', () => {
  const textAt = (schema: z.ZodType, body: string, ...path: (string | number)[]) => {
    const parsed = schema.parse(jsonReader(shapeOf(schema))(bytes(body)))
    const found = path.reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], parsed)
    return found instanceof JsonText ? found.text : found
  }
  const open = z.object({ model: z.string() }).catchall(FreeFormValue)

  test.each<[string, z.ZodType, string, (string | number)[], unknown]>([
    ['of the whole body', FreeFormObject, ' {"a":1.0} ', [], '{"a":1.0}'],
    ['of unknown names', open, '{"model":"m","x":1.0}', ['x'], '1.0'],
    ['of declared names beside them', open, '{"model":"m","x":1.0}', ['model'], 'm'],
    ['of records', z.record(z.string(), FreeFormObject), '{"a":{"b":1.0}}', ['a'], '{"b":1.0}'],
    ['of tuples', z.tuple([z.string(), FreeFormObject]), '["a",{"b":1.0}]', [1], '{"b":1.0}'],
    ['of open tuples', z.tuple([z.string()]).rest(FreeFormObject), '["a",{"b":1.0}]', [1], '{"b":1.0}'],
    [
      'of wrapped schemas',
      z.object({ a: FreeFormObject.nullable().default(null).describe('x') }),
      '{"a":{"b":1.0}}',
      ['a'],
      '{"b":1.0}',
    ],
    [
      'of described schemas',
      z.object({ a: FreeFormObjects.describe('x').optional() }),
      '{"a":[{"b":1.0}]}',
      ['a'],
      '[{"b":1.0}]',
    ],
    [
      'of refined and transformed schemas',
      z
        .object({ a: FreeFormObject })
        .refine(() => true)
        .transform((value) => value),
      '{"a":{"b":1.0}}',
      ['a'],
      '{"b":1.0}',
    ],
    [
      'behind a preprocess',
      z.preprocess((value) => value, z.object({ a: FreeFormObject })),
      '{"a":{"b":1.0}}',
      ['a'],
      '{"b":1.0}',
    ],
    [
      'of intersections',
      z.object({ a: z.string() }).and(z.object({ b: FreeFormObject })),
      '{"a":"x","b":{"c":1.0}}',
      ['b'],
      '{"c":1.0}',
    ],
    ['of lazy schemas', z.lazy(() => z.object({ a: FreeFormObject })), '{"a":{"b":1.0}}', ['a'], '{"b":1.0}'],
  ])('finds the places %s', (_name, schema, body, path, expected) => {
    expect(textAt(schema, body, ...path)).toBe(expected)
  })

  test('of a union is the sum of its options', () => {
    const union = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), setup: z.object({ size: z.number() }).catchall(FreeFormValue) }),
      z.object({ kind: z.literal('b'), setup: z.strictObject({ size: z.number(), env: FreeFormObject }) }),
      z.object({ kind: z.literal('c'), setup: z.union([z.string(), FreeFormObject]) }),
    ])
    expect(textAt(union, '{"kind":"a","setup":{"size":1,"x":[1.0]}}', 'setup', 'x')).toBe('[1.0]')
    expect(textAt(union, '{"kind":"b","setup":{"size":1,"env":{"A":1.0}}}', 'setup', 'env')).toBe('{"A":1.0}')
    expect(textAt(union, '{"kind":"c","setup":"text"}', 'setup')).toBe('text')
  })

  test('of a union keeps what one option takes and another forbids', () => {
    const closed = z.strictObject({ kind: z.literal('a'), extra: z.undefined().optional() })
    const either = z.union([closed, z.object({ kind: z.literal('b'), extra: FreeFormValue }).catchall(FreeFormValue)])
    for (const union of [either, z.union(either.options.toReversed())]) {
      expect(textAt(union, '{"kind":"b","extra":1.0}', 'extra')).toBe('1.0')
      expect(textAt(union, '{"kind":"b","extra":1,"x":1.0}', 'x')).toBe('1.0')
    }
  })

  test('of a union knows lists beside objects and scalars, in whichever order', () => {
    const options = [z.array(FreeFormObject), z.object({ b: FreeFormObject }), z.string()]
    for (const union of [z.union(options), z.union(options.toReversed())]) {
      expect(textAt(union, '[{"c":1.0}]', 0)).toBe('{"c":1.0}')
      expect(textAt(union, '{"b":{"c":1.0}}', 'b')).toBe('{"c":1.0}')
      expect(textAt(union, '"text"')).toBe('text')
    }
  })

  test('of a union of scalars keeps nothing: whatever else stands there is held to be exact', () => {
    const read = jsonReader(shapeOf(z.object({ a: z.union([z.string(), z.number()]) })))
    expect(() => read(bytes('{"a":[1e400]}'))).toThrow('The request is not valid')
  })

  test('keeps objects and lists, and leaves scalars, where either may stand', () => {
    const either = z.object({ a: z.union([z.string(), FreeFormObject]) })
    expect(textAt(either, '{"a":"text"}', 'a')).toBe('text')
    expect(textAt(either, '{"a":{"b":1.0}}', 'a')).toBe('{"b":1.0}')
    const any = z.object({ a: z.union([z.string(), FreeFormValue]) })
    expect(textAt(any, '{"a":[1.0]}', 'a')).toBe('[1.0]')
  })
})
