import { Base64Bytes, FreeFormValue } from '@keelson/contracts'
import { NewCheckpointWrite, PutCheckpointRequest } from '@keelson/contracts/agent'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from './api-error.ts'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'
import { cutBase64, LARGE } from './large-base64.ts'

const body = z.object({
  blobs: z.array(z.object({ blob: NewCheckpointWrite.shape.blob.nullable(), name: z.string().optional() })),
  free: FreeFormValue.optional(),
})
const read = jsonReader(shapeOf(body))
/** The same without knowing where base64 stands. */
const readWhole = jsonReader(shapeOf(z.object({ blobs: z.array(z.unknown()), free: FreeFormValue.optional() })))

const outcomeOf = (reader: (bytes: Uint8Array) => unknown, text: string): unknown => {
  try {
    return JSON.parse(JSON.stringify(reader(Buffer.from(text))))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { code: error.code, message: error.message, errors: error.errors }
  }
}

const base64Of = (bytes: number) => Buffer.alloc(bytes, 'keelson').toString('base64')
const LARGE_BYTES = (LARGE / 4) * 3

/** Around the size at which it is cut out, and around that at which its pieces are checked. */
const base64 = fc
  .constantFrom(0, 1, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, 2 * LARGE_BYTES, 200_000)
  .map(base64Of)
const lookalike = fc.oneof(
  base64,
  base64.map((text) => `\\"${text}`),
  base64.map((text) => `${text}\\"`),
  base64.map((text) => `${text}\\n`),
  base64.map((text) => `${text}=`),
  base64.map((text) => `é${text}`),
  fc.constant('#0'),
)
const item = fc
  .tuple(lookalike, fc.option(lookalike))
  .map(([blob, name]) => `{"blob":"${blob}"${name === null ? '' : `,"name":"${name}"`}}`)
const text = fc
  .tuple(fc.array(item, { maxLength: 4 }), fc.option(lookalike), fc.constantFrom('', ' ', '\n'.repeat(40_000)))
  .map(
    ([items, free, space]) => `{"blobs":[${items.join(',')}]${space}${free === null ? '' : `,"free":{"a":"${free}"}`}}`,
  )

test('a body reads the same whether or not its large base64 is cut out of it', () => {
  fc.assert(
    fc.property(text, (json) => {
      expect(outcomeOf(read, json)).toEqual(outcomeOf(readWhole, json))
    }),
    { numRuns: 200 },
  )
})

test('a damaged body is refused with the same words', () => {
  const damage = fc.constantFrom('', '"', ',', '}', '{', '\\', '\n', 'x', '\u{1}')
  fc.assert(
    fc.property(text, fc.double({ min: 0, max: 1, noNaN: true }), damage, (json, where, insert) => {
      const at = Math.floor(where * json.length)
      const damaged = json.slice(0, at) + insert + json.slice(at + 1)
      expect(outcomeOf(read, damaged)).toEqual(outcomeOf(readWhole, damaged))
    }),
    { numRuns: 300 },
  )
})

test('large base64 becomes no string', () => {
  const put = {
    thread_id: 't',
    checkpoint_ns: '',
    checkpoint_id: 'c',
    checkpoint: { v: 1 },
    metadata: {},
    blobs: [{ channel: 'c', version: '1', type: 'json', blob: base64Of(100_000) }],
  }
  const value = PutCheckpointRequest.parse(jsonReader(shapeOf(PutCheckpointRequest))(Buffer.from(JSON.stringify(put))))
  expect(value.blobs[0]?.blob).toBeInstanceOf(Base64Bytes)
  expect(String(value.blobs[0]?.blob)).toBe(put.blobs[0]?.blob)
})

test('nothing is looked for byte by byte in a body without any', () => {
  const quotes = Buffer.alloc(1_000_000, '"')
  let searches = 0
  const counting = new Proxy(quotes, {
    get: (target, name) => {
      if (name === 'indexOf' || name === 'lastIndexOf') searches += 1
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  expect(cutBase64(counting, String)).toBeNull()
  expect(searches).toBeLessThan(100)
})
