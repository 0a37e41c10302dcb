import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { accountKeys } from './account-keys.ts'
import { IntegrityError, KeyProviderUnavailable, UnknownKeyEncryptionKey } from './errors.ts'
import { generateKey } from './providers/local-keys.ts'
import { open, seal } from './sealed.ts'
import { CONTEXT, fixture, localKeys, MINUTE_MS } from './testing/test-keys.ts'

const { account_id } = CONTEXT
const secret = randomBytes(64)
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('creation', () => {
  test('the first secret of an account makes its key, one for each account', async () => {
    const { keys, rows } = fixture()
    await seal(keys, CONTEXT, secret)
    await seal(keys, { ...CONTEXT, account_id: 'acct_2' }, secret)
    await seal(keys, CONTEXT, secret)
    expect(rows.map((row) => [row.account_id, row.version, row.state])).toEqual([
      ['acct_1', 1, 'active'],
      ['acct_2', 1, 'active'],
    ])
  })

  test('twenty replicas racing all seal under the one key that was stored', async () => {
    const { replica, rows } = fixture()
    const replicas = Array.from({ length: 20 }, replica)
    const records = await Promise.all(replicas.map((keys) => seal(keys, CONTEXT, secret)))
    expect(rows).toHaveLength(1)
    for (const record of records) expect(await open(replica(), CONTEXT, record)).toEqual(secret)
  })

  test('a hundred callers of one replica cause one creation and one read', async () => {
    const { keys, rows, reads, state } = fixture()
    await Promise.all(Array.from({ length: 100 }, () => keys.active(account_id)))
    expect([rows.length, reads.count, state.unwraps]).toEqual([1, 1, 2])
  })

  test('the bytes of a key are wiped from every buffer they passed through', async () => {
    const { keys, state, replica } = fixture()
    await seal(keys, CONTEXT, secret)
    await seal(replica(), CONTEXT, secret)
    expect(state.handed).toHaveLength(4)
    for (const buffer of state.handed) expect(buffer).toEqual(Buffer.alloc(32))
  })

  test('a key object prints none of its bytes', async () => {
    const { key } = await fixture().keys.active(account_id)
    expect(JSON.stringify(key)).toBe('{}')
    expect(inspect(key)).not.toContain(key.export().toString('hex'))
  })
})

describe('cache', () => {
  test('a key is unwrapped once within its time to live, then again', async () => {
    const { replica, clock, state, reads } = fixture()
    await replica().active(account_id)
    const keys = replica()
    state.unwraps = reads.count = 0
    for (let at = 0; at < 15; at++) {
      clock.ms = at * MINUTE_MS
      await keys.active(account_id)
    }
    expect([state.unwraps, reads.count]).toEqual([1, 1])
    clock.ms = 15 * MINUTE_MS
    await keys.active(account_id)
    expect(state.unwraps).toBe(2)
  })

  test('the account unused for longest makes room', async () => {
    const { provider, store, state } = fixture()
    const keys = accountKeys(provider, store, { cacheSize: 2, ttlMs: MINUTE_MS })
    for (const name of ['a', 'b', 'a', 'c']) await keys.active(name)
    state.unwraps = 0
    await keys.active('a')
    expect(state.unwraps).toBe(0)
    await keys.active('b')
    expect(state.unwraps).toBe(1)
  })

  test('forgetting drops what is cached and what is being loaded', async () => {
    const { keys, replica, state } = fixture()
    await keys.active(account_id)
    const other = replica()
    const underway = other.version(account_id, 1)
    for (const each of [keys, other]) each.forget()
    await underway
    state.unwraps = 0
    for (const each of [keys, other]) await each.version(account_id, 1)
    expect(state.unwraps).toBe(2)
  })
})

describe('while the key provider is away', () => {
  const STALE_END = (15 + 240) * MINUTE_MS

  test('cached accounts read and write for the stale window and not a moment longer', async () => {
    const { keys, state, clock } = fixture()
    const record = await seal(keys, CONTEXT, secret)
    state.down = true
    for (const ms of [MINUTE_MS, 15 * MINUTE_MS, 100 * MINUTE_MS, STALE_END - 1]) {
      clock.ms = ms
      expect(await open(keys, CONTEXT, record)).toEqual(secret)
      expect(await open(keys, CONTEXT, await seal(keys, CONTEXT, secret))).toEqual(secret)
    }
    clock.ms = STALE_END
    expect(await failure(open(keys, CONTEXT, record))).toBeInstanceOf(KeyProviderUnavailable)
    expect(await failure(seal(keys, CONTEXT, secret))).toBeInstanceOf(KeyProviderUnavailable)
  })

  test('an uncached account is told so, with a time to come back, and works again at once afterwards', async () => {
    const { keys, state, rows } = fixture()
    state.down = true
    expect(await failure(seal(keys, CONTEXT, secret))).toMatchObject({
      name: 'KeyProviderUnavailable',
      retryAfterSeconds: 5,
    })
    expect(rows).toEqual([])
    state.down = false
    await expect(seal(keys, CONTEXT, secret)).resolves.toHaveLength(164)
  })

  test('the provider is left alone for five seconds where a cached key can serve, then asked again', async () => {
    const { keys, state, clock } = fixture()
    await keys.active(account_id)
    state.down = true
    clock.ms = 20 * MINUTE_MS
    state.unwraps = 0
    for (let call = 0; call < 50; call++) await keys.version(account_id, 1)
    expect(state.unwraps).toBe(1)
    state.down = false
    clock.ms += 5000
    await keys.version(account_id, 1)
    expect(state.unwraps).toBe(2)
  })

  test('only an outage is forgiven: a key destroyed meanwhile stops working when its time is up', async () => {
    const { keys, clock, rows } = fixture()
    const record = await seal(keys, CONTEXT, secret)
    rows[0]!.state = 'destroyed'
    clock.ms = 15 * MINUTE_MS
    expect(await failure(open(keys, CONTEXT, record))).toMatchObject({ reason: 'account_key_destroyed' })
  })
})

describe('a wrapped key', () => {
  test('moved to another account, version or key-encryption key does not unwrap', async () => {
    const [one, two] = [generateKey(), generateKey()]
    const { keys, rows, replica } = fixture(localKeys(one, two))
    await keys.active(account_id)
    await keys.active('acct_2')
    const [mine, theirs] = rows as [(typeof rows)[0], (typeof rows)[0]]
    const original = { ...mine }
    for (const change of [
      { wrapped: theirs.wrapped },
      { kek_id: localKeys(two).id },
      { version: 2 },
      { wrapped: Buffer.alloc(0) },
      { wrapped: Buffer.concat([Buffer.of(2), mine.wrapped.subarray(1)]) },
    ]) {
      Object.assign(mine, original, change)
      expect(await failure(replica().active(account_id))).toBeInstanceOf(IntegrityError)
    }
  })

  test('under a key-encryption key that is not here fails by naming the wanted id, never a key', async () => {
    const [lost, present] = [generateKey(), generateKey()]
    const { keys, store } = fixture(localKeys(lost))
    await keys.active(account_id)
    const other = accountKeys(localKeys(present), store, { cacheSize: 10, ttlMs: MINUTE_MS })
    const error = (await failure(other.active(account_id))) as UnknownKeyEncryptionKey
    expect(error).toBeInstanceOf(UnknownKeyEncryptionKey)
    expect(error.message).toBe(`wanted key-encryption key ${localKeys(lost).id}; configured: ${localKeys(present).id}`)
    for (const key of [lost, present]) expect(JSON.stringify(error) + error.stack).not.toContain(key.split(':')[1])
  })

  test('that no longer exists is an integrity failure of the record that names it', async () => {
    const { keys, rows, replica } = fixture()
    const record = await seal(keys, CONTEXT, secret)
    rows.length = 0
    expect(await failure(open(replica(), CONTEXT, record))).toMatchObject({ reason: 'account_key_missing' })
  })
})
