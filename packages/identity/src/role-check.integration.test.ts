import { connect, withAccount } from '@keelson/database'
import { testAccount, testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { recordAudit } from './audit-entry.ts'
import { authenticator } from './authenticator.ts'
import { assertBoundRole } from './role-check.ts'
import { TEST_PEPPER } from '@keelson/testing'

const database = await testDatabase()
const role = `service_${Math.random().toString(36).slice(2)}`
await database.db.sql.unsafe(`create role ${role} login password 'test' in role keelson_service`)
const url = Object.assign(new URL(database.url), { username: role, password: 'test' }).href
const service = connect({ url, applicationName: 'test' })
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await database.db.sql.unsafe(`drop owned by ${role}; drop role ${role}`)
  await database[Symbol.asyncDispose]()
})

test('a service refuses a user that row-level security does not bind, unless it is told that this is a laptop', async () => {
  await expect(assertBoundRole(database.db, {})).rejects.toThrow('keelson_service')
  await assertBoundRole(database.db, { ALLOW_DATABASE_OWNER: 'true' })
  await assertBoundRole(service, {})
})

test('the role of services can authenticate and append to the audit log, and change nothing of it', async () => {
  const account = await testAccount(database.db)
  await using auth = authenticator({ db: service, pepper: TEST_PEPPER, header: 'x-api-key' })
  const principal = await auth.authenticate(new Headers({ 'x-api-key': account.token }))
  const act = { principal, requestId: 'r', action: 'credential.reveal' }
  await recordAudit(service, act, { target_id: null, target_version: null, outcome: 'not_found' })
  await expect(service.sql`update identity.audit_log set outcome = 'done'`).rejects.toThrow('permission denied')
  await expect(service.sql`delete from identity.audit_seals`).rejects.toThrow('permission denied')
  expect([...(await service.sql`select 1 from identity.audit_log`)]).toEqual([])
  const mine = await withAccount(
    service,
    account.account_id,
    async (tx) => tx`select outcome from identity.audit_log where action = 'credential.reveal'`,
  )
  expect([...mine]).toEqual([{ outcome: 'not_found' }])
})

test('an audit row of another account, or a sealed record, is out of reach', async () => {
  const [one, other] = [await testAccount(database.db), await testAccount(database.db)]
  const foreign = { account_id: other.account_id, key_id: 'k', identity_id: 'i', identity_type: 'user' }
  const insert = withAccount(service, one.account_id, async (tx) => {
    const row = { ...foreign, action: 'a.b', target_type: 'a', outcome: 'done', request_id: 'r' }
    return tx`insert into identity.audit_log ${tx(row)}`
  })
  await expect(insert).rejects.toThrow('row-level security')
  expect([...(await service.sql`select 1 from platform.credential_versions`)]).toEqual([])
})
