import { FreeFormObject, FreeFormValue, JsonText, writeJson } from '@keelson/contracts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ApiError } from './api-error.ts'
import { jsonReader } from './json-reader.ts'
import { MAX_DEPTH } from './json-scan.ts'
import { shapeOf } from './json-shape.ts'
import { shallowText } from './shallow-json.ts'
import { itemReader } from './request-input.ts'
import { storedJson } from './stored-json.ts'

const readBatch = jsonReader(shapeOf(z.object({ spans: z.array(FreeFormValue) })))
const readSpan = itemReader(z.object({ name: z.string().trim(), data: FreeFormObject.nullish() }))

const itemsOf = (text: string) => (readBatch(new TextEncoder().encode(text)) as { spans: unknown[] }).spans

const outcome = (item: unknown) => {
  try {
    return readSpan(item)
  } catch (error) {
    const { code, errors } = error as ApiError
    return { code, errors }
  }
}

test('each item of a batch is read like a body of its own, and a bad one sinks no other', () => {
  const items = itemsOf(
    '{"spans":[{"name":" a ","data":{"n":1.0}}, {"name":1e400}, {"name":"b","name":"c"}, {"name":5}, null, "x"]}',
  )
  expect(items.map(outcome)).toEqual([
    { name: 'a', data: new JsonText('{"n":1.0}', { n: 1 }) },
    { code: 'invalid_request', errors: [{ path: 'name', message: 'the number cannot be held exactly' }] },
    { code: 'malformed_json', errors: undefined },
    { code: 'invalid_request', errors: [{ path: 'name', message: 'expected string, received number' }] },
    { code: 'invalid_request', errors: [{ path: '', message: 'expected object, received null' }] },
    { code: 'invalid_request', errors: [{ path: '', message: 'expected object, received string' }] },
  ])
})

test('an item may nest as deep as a body of its own, and one that nests deeper sinks no other', () => {
  const nested = (levels: number) => `{"name":"a","data":${'{"a":'.repeat(levels - 1)}1${'}'.repeat(levels)}`
  const levels = [MAX_DEPTH, MAX_DEPTH + 1, 100_000, 2]
  const items = itemsOf(`{"spans":[${levels.map(nested).join(', ')}]}`) as JsonText[]
  const shallow = { name: 'a', data: null }
  expect(items.map(({ value }) => value)).toEqual([expect.anything(), shallow, shallow, { name: 'a', data: { a: 1 } }])
  const refusal = {
    code: 'invalid_request',
    errors: [{ path: 'data', message: `must not be nested deeper than ${MAX_DEPTH} levels` }],
  }
  expect(items.map(outcome)).toEqual([
    expect.objectContaining({ name: 'a' }),
    refusal,
    refusal,
    { name: 'a', data: new JsonText('{"a":1}', { a: 1 }) },
  ])
})

test.each([
  ['nothing but brackets', '['.repeat(50_000) + ']'.repeat(50_000), '0'],
  ['brackets below a name nobody declared', `{"more":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, '*'],
])('an item of %s is told with a short path', (_name, text, path) => {
  const [item] = itemsOf(`{"spans":[${text}]}`)
  const message = `must not be nested deeper than ${MAX_DEPTH} levels`
  expect(outcome(item)).toEqual({ code: 'invalid_request', errors: [{ path, message }] })
})

test.each([
  [
    '{ "id" : "a\\"b" , "input":[[{}]],"n":1.50,"x":{"id":"y"} , "t":true}',
    '{"id":"a\\"b","input":null,"n":1.50,"x":null,"t":true}',
  ],
  ['{}', '{}'],
  ['[{"id":"a"}]', 'null'],
])('of %s only what is not nested is parsed', (text, shallow) => {
  expect(shallowText(`[${text}]`, 1)).toBe(shallow)
})

test('what was stored is read back with the text of its free-form values, and written anew as it was', () => {
  const text = '{"model":"m","extra":{"b":1.0,"a":9007199254740993}}'
  const stored = storedJson(z.object({ model: z.string() }).catchall(FreeFormValue))(text)
  expect(stored.model).toBe('m')
  expect(writeJson({ ...stored, model: 'n' })).toBe(text.replace('"m"', '"n"'))
})
