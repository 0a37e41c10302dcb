import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Base64, joinJson, parseAnswer } from './json-bytes.ts'

type Answer = { checkpoint: unknown; blobs: { blob: Uint8Array | null }[] }

/** Small values and large ones, around the sizes at which they are read and written in another way. */
const bytes = fc
  .tuple(fc.uint8Array({ maxLength: 9 }), fc.constantFrom(0, 1, 3_069, 3_072, 24_574, 24_576, 50_000))
  .map(([start, length]) => Buffer.concat([start, Buffer.alloc(length, 'keelson')]))

/** JSON with members that look like what is cut out of an answer. */
const lookalikes = fc.oneof(
  fc.json().map((text) => JSON.parse(text) as unknown),
  fc.record({ blob: fc.constantFrom('A'.repeat(5_000), `${'A'.repeat(5_000)}"`, '#0', '\\'.repeat(5_000)) }),
  fc.record({ 'a"blob': fc.constant('A'.repeat(5_000)) }),
)

test('what is joined is JSON, and is parsed to the bytes it was made of in memory of their own, whatever stands beside them', () => {
  fc.assert(
    fc.property(lookalikes, fc.array(fc.option(bytes), { maxLength: 3 }), (checkpoint, values) => {
      const blobs = values.flatMap((value, index) => [
        `${index === 0 ? '' : ','}{"blob":`,
        value === null ? 'null' : new Base64(value),
        '}',
      ])
      const body = joinJson([`{"checkpoint":${JSON.stringify(checkpoint)},"blobs":[`, ...blobs, ']}'])
      const base64 = values.map((value) => ({ blob: value && Buffer.from(value).toString('base64') }))
      expect(body.toString()).toBe(JSON.stringify({ checkpoint, blobs: base64 }))
      const answer = parseAnswer<Answer>(body, ({ blobs }) => blobs)
      expect(answer.checkpoint).toEqual(JSON.parse(JSON.stringify(checkpoint)))
      expect(answer.blobs).toEqual(values.map((value) => ({ blob: value && new Uint8Array(value) })))
      for (const { blob } of answer.blobs) expect(blob?.buffer.byteLength).toBe(blob?.byteLength)
    }),
    { numRuns: 60 },
  )
})
