import { randomBytes } from 'node:crypto'
import { connect } from '@keelson/database'
import { testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { identityStore } from './identity-store.ts'
import { isKey } from './key-format.ts'
import { bootstrapLocalAccount } from './local-account.ts'

const database = await testDatabase()
const { db } = database
afterAll(() => database[Symbol.asyncDispose]())

const pepper = randomBytes(32)
const store = identityStore(db, pepper)
const [one, other] = [await store.createAccount('one'), await store.createAccount('other')]
const robot = await store.createIdentity({ account_id: one.account_id, type: 'service_account', name: 'robot' })
const issue = (request = {}) => store.issueKey({ account_id: one.account_id, identity_id: robot.id, ...request })
const key = async (id: string) => (await store.listKeys(one.account_id)).find((row) => row.id === id)

test('ids say what they name, and keys say whose they are', async () => {
  expect(one.account_id).toMatch(/^acct_[0-9a-z]{26}$/)
  expect(robot.id).toMatch(/^svc_[0-9a-z]{26}$/)
  const { id, token } = await issue()
  expect(id).toMatch(/^key_[0-9a-z]{26}$/)
  expect(isKey(token, 'service_account')).toBe(true)
})

test('account names are unique, the one of the installation itself included, and it is not listed', async () => {
  await expect(store.createAccount('one')).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(store.createAccount('system')).rejects.toMatchObject({ code: 'invalid_request' })
  expect((await store.listAccounts()).map(({ name }) => name)).toEqual(['one', 'other'])
})

test('accounts, identities, issuing, rolling and revoking leave audit rows that name the operator and the target', async () => {
  const { account_id } = await store.createAccount('audited')
  const { id: identity_id } = await store.createIdentity({ account_id, type: 'user', name: 'ada' })
  const first = await store.issueKey({ account_id, identity_id })
  const successor = await store.rollKey({ account_id, id: first.id }, { graceMs: 0 })
  await store.revokeKey({ account_id, id: successor.id })
  const rows = await db.sql`
    select action, target_id, outcome, key_id from identity.audit_log where account_id = ${account_id} order by seq`
  expect(rows.map(({ action, target_id }) => [action, target_id])).toEqual([
    ['account.create', account_id],
    ['identity.create', identity_id],
    ['api_key.issue', first.id],
    ['api_key.issue', successor.id],
    ['api_key.roll', first.id],
    ['api_key.revoke', first.id],
    ['api_key.revoke', successor.id],
  ])
  for (const row of rows) expect(row).toMatchObject({ outcome: 'done', key_id: 'operator' })
})

test('an identity needs an account and a name of its own in it', async () => {
  const identity = { account_id: one.account_id, type: 'user', name: 'robot' } as const
  await expect(store.createIdentity(identity)).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(store.createIdentity({ ...identity, account_id: 'acct_none' })).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await store.createIdentity({ ...identity, account_id: other.account_id })).toMatchObject({ name: 'robot' })
})

test('nothing that is stored or listed contains the key', async () => {
  const { id, token } = await issue({ name: 'listed', scopes: ['spans:read'], expires_at: '2099-01-01T00:00:00.5Z' })
  expect(await key(id)).toMatchObject({
    name: 'listed',
    scopes: ['spans:read'],
    expires_at: '2099-01-01T00:00:00.500000Z',
    revoked_at: null,
  })
  const stored = JSON.stringify(await db.sql`select * from identity.api_keys where id = ${id}`)
  expect(stored).not.toContain(token.slice(12))
})

test('a key of another account can be neither revoked nor rolled, and the answer is that of a missing one', async () => {
  const { id } = await issue()
  for (const account_id of [other.account_id, 'acct_none']) {
    const foreign = await store.revokeKey({ account_id, id }).catch((error: Error) => error)
    const missing = await store.revokeKey({ account_id, id: 'key_none' }).catch((error: Error) => error)
    expect(foreign).toEqual(missing)
    expect(foreign).toMatchObject({ code: 'not_found' })
    await expect(store.rollKey({ account_id, id }, { graceMs: 0 })).rejects.toMatchObject({ code: 'not_found' })
  }
  expect((await key(id))?.revoked_at).toBeNull()
  await expect(store.issueKey({ account_id: other.account_id, identity_id: robot.id })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('a revoked key stays revoked: it cannot be revoked twice, rolled, or revived by an UPDATE', async () => {
  const { id } = await issue()
  await store.revokeKey({ account_id: one.account_id, id })
  await expect(store.revokeKey({ account_id: one.account_id, id })).rejects.toMatchObject({ code: 'not_found' })
  await expect(store.rollKey({ account_id: one.account_id, id }, { graceMs: 0 })).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(db.sql`update identity.api_keys set revoked_at = null where id = ${id}`).rejects.toMatchObject({
    code: '23514',
  })
})

test('a rolled key names its successor, which may do the same and lives as long as the old one was issued for', async () => {
  const { id } = await issue({ name: 'rolled', scopes: ['spans:read'], expires_at: '2099-01-01T00:00:00Z' })
  const successor = await store.rollKey({ account_id: one.account_id, id }, { graceMs: 3_600_000 })
  const [old, next] = [await key(id), await key(successor.id)]
  expect(old).toMatchObject({ replaced_by: successor.id, revoked_at: null })
  expect(Date.parse(old!.expires_at!) - Date.now()).toBeGreaterThan(3_500_000)
  expect(Date.parse(old!.expires_at!) - Date.now()).toBeLessThan(3_700_000)
  expect(next).toMatchObject({ name: 'rolled', scopes: ['spans:read'], replaced_by: null })
  expect(Date.parse(next!.expires_at!)).toBeGreaterThanOrEqual(Date.parse('2099-01-01T00:00:00Z'))
  await expect(store.rollKey({ account_id: one.account_id, id }, { graceMs: 0 })).rejects.toThrow('rolled already')
})

test('rolled without grace, the old key is revoked at once; rolled twice at once, there is one successor', async () => {
  const { id } = await issue()
  await store.rollKey({ account_id: one.account_id, id }, { graceMs: 0 })
  expect((await key(id))?.revoked_at).not.toBeNull()
  const raced = await issue()
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map(() => store.rollKey({ account_id: one.account_id, id: raced.id }, { graceMs: 60_000 })),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a role that owns nothing sees the keys of the account it named and of no other, yet may look one up by its hash', async () => {
  await db.sql`create role tenant_test login password 'tenant' nosuperuser nobypassrls`
  await db.sql`grant usage on schema identity to tenant_test`
  await db.sql`grant select, insert, update on identity.api_keys, identity.account_keys to tenant_test`
  await db.sql`grant select on identity.identities to tenant_test`
  await db.sql`grant insert on identity.audit_log to tenant_test`
  await db.sql`grant execute on function identity.find_api_key(bytea), identity.touch_api_keys(text[], text[], timestamptz[]) to tenant_test`
  try {
    const url = Object.assign(new URL(database.url), { username: 'tenant_test', password: 'tenant' }).href
    await using tenant = connect({ url, applicationName: 'tenant' })
    const asTenant = identityStore(tenant, pepper)
    const { id } = await asTenant.issueKey({ account_id: one.account_id, identity_id: robot.id })
    expect((await asTenant.listKeys(one.account_id)).some((row) => row.id === id)).toBe(true)
    expect(await tenant.sql`select id from identity.api_keys`).toHaveLength(0)
    expect(await tenant.sql`update identity.api_keys set name = 'taken' returning id`).toHaveLength(0)
    const foreign = tenant.sql.begin(async (tx) => {
      await tx`select set_config('keelson.account_id', ${other.account_id}, true)`
      await tx`update identity.api_keys set name = 'taken' where id = ${id}`
      return tx`insert into identity.account_keys values (${one.account_id}, 9, 'active', 'k', '\\x00')`
    })
    await expect(foreign).rejects.toMatchObject({ code: '42501' })
    const [row] = await db.sql<
      { hash: Buffer; name: string }[]
    >`select hash, name from identity.api_keys where id = ${id}`
    expect(row?.name).toBe('')
    expect(await tenant.sql`select id from identity.find_api_key(${row!.hash})`).toEqual([{ id }])
  } finally {
    await db.sql`drop owned by tenant_test`
    await db.sql`drop role tenant_test`
  }
})

test('the local account is made once, and its key kept while it works', async () => {
  const first = await bootstrapLocalAccount(db, pepper)
  expect(isKey(first.api_key, 'user')).toBe(true)
  expect(await bootstrapLocalAccount(db, pepper, first.api_key)).toEqual(first)
  const again = await bootstrapLocalAccount(db, pepper, 'kluser_lost')
  expect(again).toEqual({ ...first, api_key: expect.any(String) })
  const [live] = (await store.listKeys(first.account_id)).toReversed()
  await store.revokeKey({ account_id: first.account_id, id: live!.id })
  expect((await bootstrapLocalAccount(db, pepper, first.api_key)).api_key).not.toBe(first.api_key)
})
