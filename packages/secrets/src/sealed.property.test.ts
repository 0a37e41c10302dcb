import * as fc from 'fast-check'
import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseEnvelope } from './envelope.ts'
import { IntegrityError } from './errors.ts'
import { open, seal, sealUsing, type SealContext } from './sealed.ts'
import { openAgain, sealAgain } from './testing/second-implementation.ts'
import { knownKeys } from './testing/test-keys.ts'

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => text.isWellFormed() && Buffer.byteLength(text) <= 255)
const context: fc.Arbitrary<SealContext> = fc.record({
  purpose: name,
  account_id: name,
  record_id: name,
  record_version: fc.maxSafeNat(),
})
const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength, size: 'max' }).map((array) => Buffer.from(array))
const secret = fc.oneof({ weight: 9, arbitrary: bytes(0, 2048) }, { weight: 1, arbitrary: bytes(0, 65_536) })
const version = fc.integer({ min: 1, max: 0xffff_ffff })
const keys = knownKeys(1)

/** Whether the parser takes the record or refuses it as it should. */
const parsed = (record: Buffer): boolean => {
  try {
    return parseEnvelope(record).alg === 1
  } catch (error) {
    return error instanceof IntegrityError
  }
}

const keysOf = (key: Buffer, number: number) => {
  const found = { version: number, key: createSecretKey(key) }
  return { ...keys, active: async () => found, version: async () => found }
}

test('whatever is sealed opens, up to 64 KiB, under any names', async () => {
  await fc.assert(
    fc.asyncProperty(context, secret, async (place, plaintext) => {
      expect((await open(keys, place, await seal(keys, place, plaintext))).equals(plaintext)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('a record opens in no other place', async () => {
  await fc.assert(
    fc.asyncProperty(
      context,
      context,
      fc.subarray(['purpose', 'account_id', 'record_id', 'record_version'] as const),
      async (place, other, moved) => {
        const elsewhere = { ...place, ...Object.fromEntries(moved.map((field) => [field, other[field]])) }
        fc.pre(moved.some((field) => place[field] !== other[field]))
        const sealed = await seal(keys, place, Buffer.from('secret'))
        await expect(open(keys, elsewhere, sealed)).rejects.toBeInstanceOf(IntegrityError)
      },
    ),
    { numRuns: 500 },
  )
})

test('no bytes make the parser or open throw anything but an IntegrityError', async () => {
  const header = fc
    .tuple(fc.constantFrom(0x4b53, 0x4b54), fc.nat(3), fc.nat(3), fc.nat(5))
    .map(([magic, format, alg, number]) => {
      const start = Buffer.alloc(8)
      start.writeUInt16BE(magic)
      start.set([format, alg], 2)
      start.writeUInt32BE(number, 4)
      return start
    })
  const likely = fc.tuple(header, bytes(0, 200)).map((parts) => Buffer.concat(parts))
  const place = { purpose: 'p', account_id: 'a', record_id: 'r', record_version: 1 }
  await fc.assert(
    fc.asyncProperty(fc.oneof(bytes(0, 300), likely), async (record) => {
      await expect(open(keys, place, record)).rejects.toBeInstanceOf(IntegrityError)
      expect(parsed(record)).toBe(true)
    }),
    { numRuns: 5000 },
  )
})

test('the second implementation opens what we seal', async () => {
  await fc.assert(
    fc.asyncProperty(bytes(32, 32), version, context, secret, async (key, number, place, plaintext) => {
      const sealed = await seal(keysOf(key, number), place, plaintext)
      expect(openAgain(key, place, sealed).equals(plaintext)).toBe(true)
    }),
    { numRuns: 150 },
  )
})

test('we open what the second implementation seals, byte for byte the same record', async () => {
  const random = fc.record({ salt: bytes(32, 32), iv: bytes(12, 12) })
  await fc.assert(
    fc.asyncProperty(
      bytes(32, 32),
      version,
      context,
      secret,
      random,
      async (key, number, place, plaintext, { salt, iv }) => {
        const sealed = sealAgain(key, number, place, plaintext, { salt, iv })
        const ours = keysOf(key, number)
        expect((await open(ours, place, sealed)).equals(plaintext)).toBe(true)
        const same = await sealUsing((size) => (size === 32 ? salt : iv))(ours, place, plaintext)
        expect(same.equals(sealed)).toBe(true)
      },
    ),
    { numRuns: 150 },
  )
})
