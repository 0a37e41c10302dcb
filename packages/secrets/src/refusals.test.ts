import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { accountKeys } from './account-keys.ts'
import { decryptGcm, encryptGcm } from './aes-gcm.ts'
import { closeBox, openBox } from './derived-box.ts'
import { envelopeHeader, needsReencryption, parseEnvelope } from './envelope.ts'
import type { KeyProvider } from './key-provider.ts'
import { countBytes, nameBytes } from './length-prefixed.ts'
import { open, seal, type SealContext } from './sealed.ts'
import { CONTEXT, fixture, knownKeys, localKeys, MINUTE_MS } from './testing/test-keys.ts'
import { newWrappedKey, rewrap, unwrapKey } from './wrapped-key.ts'

/** What a refusal says, which is what somebody reads at three in the morning; and its reason, where it has one. */
const refusal = async (act: () => unknown): Promise<string> => {
  try {
    await act()
    return 'not refused'
  } catch (error) {
    const { name, message, reason } = error as { name: string; message: string; reason?: string }
    return [name, reason, message].filter((text) => text !== undefined).join(': ')
  }
}

const key = createSecretKey(randomBytes(32))
const [iv, aad] = [randomBytes(12), Buffer.from('aad')]
const encrypted = encryptGcm(key.export(), iv, aad, Buffer.from('secret'))
const sealed = await seal(knownKeys(1), CONTEXT, Buffer.from('secret'))
const withByte = (at: number, byte: number) => Object.assign(Buffer.from(sealed), { [at]: byte })

test.each<[() => unknown, string]>([
  [() => decryptGcm(key.export(), iv, aad, encrypted.subarray(0, 15)), 'format: sealed bytes are cut short'],
  [() => decryptGcm(key.export(), iv, Buffer.alloc(3), encrypted), 'tag: sealed bytes have been changed'],
  [() => openBox(key, aad, Buffer.alloc(91)), 'format: sealed bytes are cut short'],
  [() => openBox(key, aad, Buffer.alloc(92)), 'commitment: sealed under another key or for another place'],
  [() => parseEnvelope(sealed.subarray(0, 99)), 'format: sealed record is cut short'],
  [() => parseEnvelope(withByte(0, 0)), 'format: not a sealed record'],
  [() => parseEnvelope(withByte(2, 2)), 'format: unknown format of sealed record'],
  [() => parseEnvelope(withByte(3, 2)), 'format: unknown algorithm of sealed record'],
  [() => parseEnvelope(withByte(7, 0)), 'format: sealed record names no account key'],
])('%s is refused as %s', async (act, message) => {
  expect(await refusal(act)).toBe(`IntegrityError: ${message}`)
})

test('the smallest that is there is not cut short', () => {
  expect(decryptGcm(key.export(), iv, aad, encryptGcm(key.export(), iv, aad, Buffer.alloc(0)))).toHaveLength(0)
  expect(openBox(key, aad, closeBox(key, aad, Buffer.alloc(0), randomBytes))).toHaveLength(0)
  expect(parseEnvelope(sealed.subarray(0, 100)).box).toHaveLength(92)
})

const header = (version: number) => refusal(() => envelopeHeader(version))
const NO_VERSION = 'RangeError: an account key version is 1 to 2^32 - 1'

test.each([0, -1, 1.5, 0.5, Number.NaN, 2 ** 32, 2 ** 53, Number.POSITIVE_INFINITY])(
  '%d is no version',
  async (version) => {
    expect(await header(version)).toBe(NO_VERSION)
  },
)

test.each([1, 2, 2 ** 32 - 1])('%d is a version, and is read as it was written', (version) => {
  const record = Buffer.concat([envelopeHeader(version), Buffer.alloc(92)])
  expect(parseEnvelope(record)).toMatchObject({ alg: 1, ak_version: version })
  expect([needsReencryption(record, version), needsReencryption(record, version + 1)]).toEqual([false, true])
})

test('names and counts are refused by the name of their field', async () => {
  const badName = 'RangeError: f must be 1 to 255 bytes of well-formed text'
  for (const text of ['', 'x'.repeat(256), 'ü'.repeat(128), '\ud800']) {
    expect(await refusal(() => nameBytes('f', text))).toBe(badName)
  }
  expect(nameBytes('f', 'x'.repeat(255))).toHaveLength(255)
  expect(nameBytes('f', 'ü')).toEqual(Buffer.of(0xc3, 0xbc))
  for (const count of [-1, 1.5, 2 ** 53]) {
    expect(await refusal(() => countBytes('f', count))).toBe('RangeError: f must be a non-negative safe integer')
  }
  expect(countBytes('f', 0)).toEqual(Buffer.alloc(8))
})

test.each<[Partial<SealContext>, string]>([
  [{ purpose: '' }, 'purpose must be 1 to 255 bytes of well-formed text'],
  [{ account_id: '' }, 'account_id must be 1 to 255 bytes of well-formed text'],
  [{ record_id: '' }, 'record_id must be 1 to 255 bytes of well-formed text'],
  [{ record_version: -1 }, 'record_version must be a non-negative safe integer'],
])('a context with %o is refused by name', async (wrong, message) => {
  expect(await refusal(() => seal(knownKeys(1), { ...CONTEXT, ...wrong }, Buffer.of(1)))).toBe(`RangeError: ${message}`)
  expect(await refusal(() => open(knownKeys(1), { ...CONTEXT, ...wrong }, sealed))).toBe(`RangeError: ${message}`)
})

const NAME = { account_id: 'acct_1', version: 3 }

test.each<[object, string]>([
  [{ account_id: '' }, 'account_id must be 1 to 255 bytes of well-formed text'],
  [{ version: -1 }, 'version must be a non-negative safe integer'],
])('an account key named by %o is refused', async (wrong, message) => {
  expect(await refusal(() => newWrappedKey(localKeys(), { ...NAME, ...wrong }))).toBe(`RangeError: ${message}`)
})

test('an account key is wrapped for its account, version and key-encryption key, and nothing else', async () => {
  const inner = localKeys()
  const seen: Buffer[] = []
  const wrap: KeyProvider['wrap'] = (plain, context) => {
    seen.push(Buffer.from(context))
    return inner.wrap(plain, context)
  }
  await newWrappedKey({ ...inner, wrap }, NAME)
  const parts = ['account-key', 'acct_1', '\0\0\0\0\0\0\0\x03', inner.id]
  expect(seen.map(String)).toEqual([parts.map((part) => `\0\0\0${String.fromCharCode(part.length)}${part}`).join('')])
  const nameless = await refusal(() => newWrappedKey({ ...inner, id: '' }, NAME))
  expect(nameless).toBe('RangeError: kek_id must be 1 to 255 bytes of well-formed text')
})

/** A provider that answers something else than it should. */
const faulty = (fault: Partial<KeyProvider>): KeyProvider => ({ ...localKeys(), ...fault })

test.each<[string, (inner: KeyProvider) => Partial<KeyProvider>]>([
  ['another key', () => ({ unwrap: async () => randomBytes(32) })],
  ['a shorter key', () => ({ unwrap: async () => Buffer.alloc(31) })],
  ['a longer key', () => ({ unwrap: async () => Buffer.alloc(33) })],
])('a provider that gives %s back is not trusted with one', async (_, fault) => {
  const provider = faulty(fault(localKeys()))
  const said = await refusal(() => newWrappedKey(provider, NAME))
  expect(said).toBe(`IntegrityError: wrapped_key: key provider of ${provider.id} did not give back the key it wrapped`)
})

test('a provider that names another key-encryption key than its own is not trusted with one', async () => {
  const inner = localKeys()
  const wrap: KeyProvider['wrap'] = async (plain, context) => ({
    ...(await inner.wrap(plain, context)),
    kek_id: 'other',
  })
  const provider: KeyProvider = {
    ...inner,
    wrap,
    unwrap: (_, wrapped, context) => inner.unwrap(inner.id, wrapped, context),
  }
  const said = await refusal(() => newWrappedKey(provider, NAME))
  expect(said).toBe('IntegrityError: wrapped_key: key provider of other did not give back the key it wrapped')
})

test('a key that is destroyed, or comes back in another length, is refused, and wiped', async () => {
  const provider = localKeys()
  const row = await newWrappedKey(provider, NAME)
  for (const use of [unwrapKey, rewrap]) {
    const destroyed = await refusal(() => use(provider, { ...row, state: 'destroyed' }))
    expect(destroyed).toBe('IntegrityError: account_key_destroyed: key 3 of account acct_1 is destroyed')
    const short = Buffer.alloc(31, 1)
    const cut = await refusal(() => use({ ...provider, unwrap: async () => short }, row))
    expect(cut).toBe('IntegrityError: wrapped_key: key 3 of account acct_1 has the wrong length')
    expect(short).toEqual(Buffer.alloc(31))
  }
})

test('what is not trusted is wiped as well', async () => {
  const back = Buffer.alloc(32, 1)
  await refusal(() => newWrappedKey(faulty({ unwrap: async () => back }), NAME))
  expect(back).toEqual(Buffer.alloc(32))
})

test('an account without the version that a record names says which', async () => {
  const said = await refusal(() => fixture().keys.version('acct_1', 7))
  expect(said).toBe('IntegrityError: account_key_missing: account acct_1 has no version 7 of its key')
})

test('a store that answers a creation with a retired key is not believed', async () => {
  const { provider, store } = fixture()
  const insert: typeof store.insert = async (row) => ({ ...row, state: 'decrypt_only' })
  const keys = accountKeys(provider, { ...store, insert }, { cacheSize: 10, ttlMs: MINUTE_MS })
  expect(await refusal(() => keys.active('acct_1'))).toBe(
    'IntegrityError: account_key_missing: account acct_1 has no active key',
  )
})

test('a store that keeps the former key active has not rotated, and that is said', async () => {
  const { provider, store, keys } = fixture()
  await keys.active('acct_1')
  const insert: typeof store.insert = async (row) => (await store.active(row.account_id)) ?? row
  const stuck = accountKeys(provider, { ...store, insert }, { cacheSize: 10, ttlMs: MINUTE_MS })
  expect(await refusal(() => stuck.rotate('acct_1'))).toBe('Error: the store kept key 1 of account acct_1 active')
})

test('an account without a key gets its first by being rotated', async () => {
  expect((await fixture().keys.rotate('acct_1')).version).toBe(1)
})

test('keys serve for four hours while the provider is away, unless told otherwise', async () => {
  const { provider, store, state, clock } = fixture()
  const keys = accountKeys(provider, store, { cacheSize: 10, ttlMs: MINUTE_MS, now: () => clock.ms })
  await keys.active('acct_1')
  state.down = true
  clock.ms = MINUTE_MS + 4 * 60 * MINUTE_MS - 1
  expect((await keys.version('acct_1', 1)).version).toBe(1)
  clock.ms += 1
  expect(await refusal(() => keys.version('acct_1', 1))).toMatch(/^KeyProviderUnavailable: /)
})

test('all that was forgotten is read again', async () => {
  const { keys, reads, state } = fixture()
  await keys.active('acct_1')
  const before = { reads: reads.count, unwraps: state.unwraps }
  keys.forget()
  await keys.active('acct_1')
  expect([reads.count, state.unwraps]).toEqual([before.reads + 1, before.unwraps + 1])
})

test('who has forgotten sees a key that was rotated elsewhere', async () => {
  const { keys, replica } = fixture()
  await keys.active('acct_1')
  await replica().rotate('acct_1')
  expect((await keys.active('acct_1')).version).toBe(1)
  keys.forget()
  expect((await keys.active('acct_1')).version).toBe(2)
})
