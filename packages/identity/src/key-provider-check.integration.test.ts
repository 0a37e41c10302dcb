import { randomBytes } from 'node:crypto'
import { accountKeys, generateKey, keyProvider, open, seal, type KeyProvider } from '@keelson/secrets'
import { freePort } from '@keelson/local-stack'
import { testDatabase, type TestDatabase } from '@keelson/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountKeyStore } from './account-key-store.ts'
import { identityStore } from './identity-store.ts'
import { openAccountKeys } from './open-account-keys.ts'
import { assertKeyProvider } from './key-provider-check.ts'
import { systemSecret } from './system-secret.ts'

let database: TestDatabase
beforeEach(async () => void (database = await testDatabase()))
afterEach(() => database[Symbol.asyncDispose]())

const [one, two] = [generateKey(), generateKey()]
const provider = (...keys: string[]): Promise<KeyProvider> =>
  keyProvider({ provider: 'environment', keys: keys.join('\n') })
const cacheless = { cacheSize: 0, ttlMs: 0 }

test('the first start leaves a proof behind, later starts with the same key pass', async () => {
  const first = await provider(one)
  await assertKeyProvider(database.db, first)
  await assertKeyProvider(database.db, await provider(one))
  expect(await database.db.sql`select kek_id from identity.key_canary`).toEqual([{ kek_id: first.id }])
})

test('twenty replicas that start at once agree on one proof', async () => {
  const same = await provider(one)
  await Promise.all(Array.from({ length: 20 }, () => assertKeyProvider(database.db, same)))
  expect(await database.db.sql`select kek_id from identity.key_canary`).toHaveLength(1)
})

test('a missing key and a wrong key of the right name are refused, naming the id that is wanted', async () => {
  const first = await provider(one)
  await assertKeyProvider(database.db, first)
  const other = await provider(two)
  const impostor: KeyProvider = { ...other, id: first.id, unwrap: async () => randomBytes(32) }
  for (const wrong of [other, impostor]) {
    const refusal = await assertKeyProvider(database.db, wrong).catch((error: Error) => error)
    expect(refusal).toMatchObject({ name: 'ConfigError', message: expect.stringContaining(first.id) })
  }
  expect(await database.db.sql`select kek_id from identity.key_canary`).toHaveLength(1)
})

test('where no key can be read at all, the ids that are wanted are told beside the reason', async () => {
  const { id } = await provider(one)
  await assertKeyProvider(database.db, await provider(one))
  for (const [env, reason] of [
    [{ KEY_FILE: '/nowhere/keys' }, 'key file /nowhere/keys: is missing'],
    [{ KEY_ENCRYPTION_KEYS: 'short' }, 'KEY_ENCRYPTION_KEYS'],
    [{}, 'must be set'],
  ] as const)
    await expect(openAccountKeys(database.db, env)).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [expect.stringContaining(reason), `this database needs key-encryption key ${id}`],
    })
})

test('a provider that is away at the start is refused in words, naming it and the key', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`
  const env = { VAULT_TRANSIT_KEY: 'keelson', VAULT_ADDR: nobody, VAULT_TOKEN: 'test' }
  await expect(openAccountKeys(database.db, env)).rejects.toMatchObject({
    name: 'ConfigError',
    problems: [
      'key provider of vault-transit:transit/keelson: cannot be reached (ECONNREFUSED); key-encryption key vault-transit:transit/keelson is wanted to start',
    ],
  })
})

test('a new current key is welcome while the former one still unwraps', async () => {
  await assertKeyProvider(database.db, await provider(one))
  await assertKeyProvider(database.db, await provider(two, one))
  expect(await database.db.sql`select kek_id from identity.key_canary`).toHaveLength(2)
  await expect(assertKeyProvider(database.db, await provider(two))).rejects.toThrow((await provider(one)).id)
})

test('every replica gets the same key for an account, however many ask first, and the same pepper', async () => {
  const same = await provider(one)
  const { account_id } = await identityStore(database.db, randomBytes(32)).createAccount('raced')
  const replicas = Array.from({ length: 10 }, () => accountKeys(same, accountKeyStore(database.db), cacheless))
  const context = { purpose: 'test', account_id, record_id: 'r', record_version: 1 }
  const sealed = await Promise.all(replicas.map((replica) => seal(replica, context, Buffer.from('secret'))))
  for (const bytes of sealed) expect((await open(replicas[0]!, context, bytes)).toString()).toBe('secret')
  const stored = await database.db
    .sql`select version, state from identity.account_keys where account_id = ${account_id}`
  expect(stored).toEqual([{ version: 1, state: 'active' }])
  const peppers = await Promise.all(replicas.map((replica) => systemSecret(replica, 'api-key.pepper')))
  expect(new Set(peppers.map((pepper) => pepper.toString('hex'))).size).toBe(1)
})

test('a rotated account key replaces the active one, which still opens what was sealed under it', async () => {
  const { account_id } = await identityStore(database.db, randomBytes(32)).createAccount('rotated')
  const account = accountKeys(await provider(one), accountKeyStore(database.db), cacheless)
  const context = { purpose: 'test', account_id, record_id: 'r', record_version: 1 }
  const before = await seal(account, context, Buffer.from('before'))
  const rotated = await Promise.all([1, 2, 3].map(() => account.rotate(account_id)))
  expect(new Set(rotated.map(({ version }) => version)).has(2)).toBe(true)
  expect((await open(account, context, before)).toString()).toBe('before')
  const states = await database.db
    .sql`select state from identity.account_keys where account_id = ${account_id} order by version desc`
  expect(states.map(({ state }) => state)).toEqual(['active', ...states.slice(1).map(() => 'decrypt_only')])
})
