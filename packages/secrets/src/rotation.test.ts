import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { accountKeys } from './account-keys.ts'
import { generateKey } from './providers/local-keys.ts'
import { open, seal } from './sealed.ts'
import { CONTEXT, fixture, localKeys, MINUTE_MS } from './testing/test-keys.ts'
import { rewrap } from './wrapped-key.ts'

const { account_id } = CONTEXT
const secret = randomBytes(64)

describe('rotation', () => {
  test('new records go under the new key, old records still open', async () => {
    const { keys, rows, replica } = fixture()
    const before = await seal(keys, CONTEXT, secret)
    expect((await keys.rotate(account_id)).version).toBe(2)
    const after = await seal(keys, CONTEXT, secret)
    expect([before.readUInt32BE(4), after.readUInt32BE(4)]).toEqual([1, 2])
    expect(rows.map(({ state }) => state)).toEqual(['decrypt_only', 'active'])
    for (const record of [before, after]) expect(await open(replica(), CONTEXT, record)).toEqual(secret)
  })

  test('two replicas rotating at once agree on one new key', async () => {
    const { replica, rows } = fixture()
    const [one, two] = [replica(), replica()]
    await one.active(account_id)
    const [first, second] = await Promise.all([one.rotate(account_id), two.rotate(account_id)])
    expect(first.key.equals(second.key)).toBe(true)
    expect(rows.map(({ version }) => version)).toEqual([1, 2])
  })

  test('another replica follows when its cache runs out, and opens the new records before that', async () => {
    const { keys, replica, clock } = fixture()
    const other = replica()
    await other.active(account_id)
    await keys.rotate(account_id)
    expect(await open(other, CONTEXT, await seal(keys, CONTEXT, secret))).toEqual(secret)
    expect((await other.active(account_id)).version).toBe(1)
    clock.ms = 15 * MINUTE_MS
    expect((await other.active(account_id)).version).toBe(2)
  })

  test('a store that does not replace the active key is found out', async () => {
    const { provider, store } = fixture()
    const stubborn = {
      ...store,
      insert: async (key: Parameters<typeof store.insert>[0]) =>
        (await store.active(key.account_id)) ?? store.insert(key),
    }
    const keys = accountKeys(provider, stubborn, { cacheSize: 10, ttlMs: MINUTE_MS })
    await keys.active(account_id)
    await expect(keys.rotate(account_id)).rejects.toThrow('kept key 1')
  })
})

describe('rewrap', () => {
  test('puts the same key under the current key-encryption key and touches no record', async () => {
    const [old, current] = [generateKey(), generateKey()]
    const { keys, rows, store } = fixture(localKeys(old))
    const record = await seal(keys, CONTEXT, secret)
    const both = localKeys(current, old)
    const moved = await rewrap(both, rows[0]!)
    expect(moved).toMatchObject({ account_id, version: 1, state: 'active', kek_id: both.id })
    rows[0] = moved
    const onlyNew = accountKeys(localKeys(current), store, { cacheSize: 10, ttlMs: MINUTE_MS })
    expect(await open(onlyNew, CONTEXT, record)).toEqual(secret)
  })

  test('wipes the key and refuses a provider that does not give back what it wrapped', async () => {
    const { keys, rows, provider, state } = fixture()
    await keys.active(account_id)
    let asked = 0
    const lying = {
      ...provider,
      unwrap: async (...args: Parameters<typeof provider.unwrap>) => {
        const plain = await provider.unwrap(...args)
        return ++asked === 2 ? randomBytes(32) : plain
      },
    }
    await expect(rewrap(lying, rows[0]!)).rejects.toMatchObject({ reason: 'wrapped_key' })
    for (const buffer of state.handed.slice(0, 4)) expect(buffer).toEqual(Buffer.alloc(32))
  })
})
