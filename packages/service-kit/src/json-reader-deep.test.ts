import { FreeFormObject, FreeFormValue, type JsonObject, JsonText } from '@keelson/contracts'
import { readJson, valueEnd } from '@keelson/contracts/json'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from './api-error.ts'
import { jsonReader } from './json-reader.ts'
import { MAX_DEPTH } from './json-scan.ts'
import { shapeOf } from './json-shape.ts'
import { itemReader } from './request-input.ts'
import { flatText } from './shallow-json.ts'

const anything = FreeFormValue.optional()
const readBatch = jsonReader(shapeOf(z.object({ spans: z.array(FreeFormValue) })))
const readItem = itemReader(
  z.object({ id: z.string(), input: FreeFormObject.nullish(), output: anything, data: anything }),
)

type Outcome = { code: string; value?: unknown }

const outcomeOf = (read: () => unknown): Outcome => {
  try {
    return { code: 'accepted', value: read() }
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code }
    throw error
  }
}

const batchOf = (text: string) => outcomeOf(() => readBatch(new TextEncoder().encode(text)))

const spansOf = (body: unknown): unknown[] => {
  const spans = typeof body === 'object' && body !== null && 'spans' in body ? body.spans : null
  return Array.isArray(spans) ? spans : []
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const depthOf = (text: string): number => {
  let depth = 0
  while (valueEnd(text, 0, 0, depth) === -1) depth++
  return depth
}

const nested = (open: string, inner: string, close: string, levels: number) =>
  open.repeat(levels) + inner + close.repeat(levels)
const DEEP = nested('[', '', ']', 200)

test.each([
  ['a comma that is missing before it', `{"id":"x" "input":${DEEP}}`],
  ['something between a value and it', `{"id":"x","input":{} x${DEEP}}`],
  ['something right before it', `{"id":"x","input":x${DEEP}}`],
  ['something right behind it', `{"id":"x","input":${DEEP}x}`],
  ['a comma too many behind it', `{"id":"x","input":${DEEP},}`],
  ['two of it', `${DEEP}${DEEP}`],
  ['something deep in it', `{"id":"x","input":${nested('[', 'x', ']', 200)}}`],
  ['a missing comma deep in it', `{"id":"x","input":${nested('[ [],[] ', '', ']', 200)}}`],
  ['brackets that do not match', `{"id":"x","input":${nested('[', '', '}', 200)}}`],
  ['brackets that never close', `{"id":"x","input":${'['.repeat(200)}`],
])('an item that nests too deep is malformed with %s', (_name, item) => {
  expect(batchOf(`{"spans":[{"id":"y"},${item}]}`).code).toBe('malformed_json')
})

const scalars = ['1.0', '-0', '9007199254740993', 'null', 'true', '"\\u0000"', '"a\\\\"', '"\\"}"', '"[{"'] as const
const names = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"\\u00e9"', '"\\n"', '"__proto__"', '"\\\\"')
const json = fc.letrec<{ value: string }>((tie) => {
  const levels = fc.constantFrom(2, 126, 127, 128, 129, 300)
  const deep = fc.oneof(
    levels.map((count) => nested('[', '', ']', count)),
    levels.map((count) => nested('{"a" : [1,{}], "b":', '"]"', ',"c":[[]]}', count)),
  )
  const list = fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`)
  const member = fc.tuple(names, tie('value')).map((pair) => pair.join(': '))
  const object = fc.array(member, { maxLength: 3 }).map((members) => `{${members.join(',')}}`)
  return { value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(...scalars), deep, list, object) }
}).value

const members = fc.tuple(fc.constantFrom('"input"', '"output"', '"data"', '"undeclared"', '"in\\u0070ut"'), json)
const items = fc
  .uniqueArray(members, { maxLength: 3, selector: ([name]): unknown => JSON.parse(name) })
  .map((list) => `{${['"id":"x"', ...list.map((pair) => pair.join(':'))].join(', ')}}`)

const tokens = ['"', '{', '}', '[', ']', ',', ':', '\\', ' ', '1', 'null', '\u{1e}', '"input":', '"x":{}', ''] as const
const damages = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...tokens), fc.nat(2)), { maxLength: 2 })

const damaged = (sound: string, list: [number, string, number][]): string =>
  list.reduce((text, [where, token, length]) => {
    const at = where % (text.length + 1)
    return text.slice(0, at) + token + text.slice(at + length)
  }, sound)

/** What stands in the text for the item, as far as it is declared. */
const declared = ({ id, input, output, data }: JsonObject) => JSON.stringify({ id, input, output, data })

const plain = (item: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(item as JsonObject).map(([name, value]) => [
      name,
      value instanceof JsonText ? readJson(value.text) : value,
    ]),
  )

/** The item with its free-form members as their texts have them, or why it is refused. */
const readAs = (item: unknown): string => {
  const { code, value } = outcomeOf(() => readItem(item))
  return code === 'accepted' ? declared(plain(value)) : code
}

const REFUSALS = ['invalid_request', 'malformed_json']

test('whatever the text, only JSON is accepted, and of its items nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(items, { minLength: 1, maxLength: 3 }), damages, (list, marks) => {
      const text = damaged(`{"spans":[${list.join(',')}]}`, marks)
      const { code, value } = batchOf(text)
      expect(isJson(text) ? [...REFUSALS, 'accepted'] : REFUSALS).toContain(code)
      const sent = code === 'accepted' ? spansOf(readJson(text)) : []
      for (const [index, item] of spansOf(value).entries())
        expect([...REFUSALS, declared({ ...(sent[index] as JsonObject) })]).toContain(readAs(item))
    }),
    { numRuns: 3000 },
  )
})

test('an item is accepted unless it nests too deep, and refused with its id then', () => {
  const sound = fc.tuple(fc.constantFrom(1, 126, 127, 128, 129, 300), json)
  fc.assert(
    fc.property(sound, ([levels, input]) => {
      const [item] = spansOf(batchOf(`{"spans":[{"id":"x","data":${nested('[', input, ']', levels)}}]}`).value)
      expect((item as JsonText).value).toMatchObject({ id: 'x' })
      expect(readAs(item) === 'invalid_request').toBe(depthOf(input) + levels + 1 > MAX_DEPTH)
    }),
    { numRuns: 300 },
  )
})

test('the pieces of a value are JSON exactly when it is, and nest little', () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 128, 300), json, damages, (levels, inner, marks) => {
      const text = nested('[', damaged(inner, marks), ']', levels)
      const flat = flatText(text, 0, text.length)
      expect(isJson(flat)).toBe(isJson(text))
      expect(isJson(flat) ? depthOf(flat) : 0).toBeLessThanOrEqual(MAX_DEPTH + 1)
    }),
    { numRuns: 1000 },
  )
})
