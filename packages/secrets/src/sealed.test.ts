import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { needsReencryption, SEALED_OVERHEAD, sealedWith } from './envelope.ts'
import { IntegrityError } from './errors.ts'
import { open, seal, type SealContext } from './sealed.ts'
import { CONTEXT, knownKeys } from './testing/test-keys.ts'

const keys = knownKeys(1, 2)
const failure = (context: SealContext, sealed: Buffer) =>
  open(keys, context, sealed).then(
    () => undefined,
    (error: unknown) => error,
  )

/** How many of these records are opened, or refused with anything but an IntegrityError. */
const undetected = async (records: Iterable<Buffer>): Promise<number> => {
  let count = 0
  for (const record of records) {
    const outcome = await open(keys, CONTEXT, record).catch((error: unknown) => error)
    if (!(outcome instanceof IntegrityError)) count++
  }
  return count
}

const secret = randomBytes(1024)
const sealed = await seal(keys, CONTEXT, secret)

test('a sealed secret opens in its place, and is 100 bytes longer', async () => {
  expect(await open(keys, CONTEXT, sealed)).toEqual(secret)
  expect(sealed.length).toBe(secret.length + 100)
  expect(SEALED_OVERHEAD).toBe(100)
})

test('sealing twice never gives the same bytes', async () => {
  const records = await Promise.all(Array.from({ length: 500 }, () => seal(keys, CONTEXT, secret)))
  expect(new Set(records.map((record) => record.toString('hex', 8, 40))).size).toBe(500)
  expect(new Set(records.map((record) => record.toString('hex', 72, 84))).size).toBe(500)
})

test('every flipped bit of a 1 KB record is detected', async () => {
  const flips = function* () {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      yield changed
    }
  }
  expect(await undetected(flips())).toBe(0)
})

test('every truncation, at either end, and every extension is detected', async () => {
  const cuts = Array.from({ length: sealed.length }, (_, length) => sealed.subarray(0, length))
  const heads = Array.from({ length: sealed.length }, (_, start) => sealed.subarray(start + 1))
  const longer = [
    Buffer.concat([sealed, Buffer.of(0)]),
    Buffer.concat([Buffer.of(0), sealed]),
    Buffer.concat([sealed, sealed]),
  ]
  expect(await undetected([...cuts, ...heads, ...longer])).toBe(0)
})

describe('a record moved to another place does not open', () => {
  test.each<Partial<SealContext>>([
    { purpose: 'webhook.secret' },
    { account_id: 'acct_2' },
    { record_id: 'cred_2' },
    { record_version: 2 },
    { record_version: 0 },
    { account_id: 'acct_1c', record_id: 'red_1' },
    { purpose: 'credential.payloada', account_id: 'cct_1' },
  ])('%o', async (moved) => {
    expect(await failure({ ...CONTEXT, ...moved }, sealed)).toBeInstanceOf(IntegrityError)
  })

  test('two records of one place cannot be mixed', async () => {
    const other = await seal(keys, CONTEXT, randomBytes(1024))
    for (const cut of [40, 72, 84, 500, sealed.length - 16]) {
      const mixed = Buffer.concat([sealed.subarray(0, cut), other.subarray(cut)])
      expect(await failure(CONTEXT, mixed)).toBeInstanceOf(IntegrityError)
    }
  })

  test('relabelled with another version of the account key', async () => {
    const relabelled = Buffer.from(sealed)
    relabelled.writeUInt32BE(2, 4)
    expect(await failure(CONTEXT, relabelled)).toBeInstanceOf(IntegrityError)
  })
})

test('a record names what it was sealed with, without any key', async () => {
  const record = await seal(knownKeys(7), CONTEXT, secret)
  expect(sealedWith(record)).toEqual({ alg: 1, ak_version: 7 })
  expect(needsReencryption(record, 7)).toBe(false)
  expect(needsReencryption(record, 8)).toBe(true)
  expect(() => sealedWith(record.subarray(0, 99))).toThrow(IntegrityError)
})

test('an error tells the place of the failure and none of the bytes', async () => {
  const key = createSecretKey(randomBytes(32))
  const other = { ...keys, version: async () => ({ version: 1, key }) }
  const error: unknown = await open(other, CONTEXT, sealed).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'IntegrityError', reason: 'commitment' })
  const printed = JSON.stringify(error) + String(error) + String((error as Error).stack)
  for (const bytes of [secret, key.export(), sealed.subarray(8, 40)]) {
    expect(printed).not.toContain(bytes.toString('hex').slice(0, 16))
    expect(printed).not.toContain(bytes.toString('base64').slice(0, 10))
  }
})

test('an empty secret is kept as one', async () => {
  expect(await open(keys, CONTEXT, await seal(keys, CONTEXT, Buffer.alloc(0)))).toHaveLength(0)
})

test.each<Partial<SealContext>>([
  { purpose: '' },
  { account_id: '' },
  { record_id: 'x'.repeat(256) },
  { record_id: 'half a pair \ud800' },
  { record_version: -1 },
  { record_version: 1.5 },
  { record_version: 2 ** 53 },
])('a context that does not name one place is refused: %o', async (wrong) => {
  await expect(seal(keys, { ...CONTEXT, ...wrong }, secret)).rejects.toBeInstanceOf(RangeError)
})
