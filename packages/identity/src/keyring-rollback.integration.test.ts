import { testAccount, testDatabase } from '@keelson/testing'
import { withAccount } from '@keelson/database'
import { afterAll, expect, test } from 'vitest'
import { recordAudit } from './audit-entry.ts'
import { rolledBackCredentials } from './keyring-rollback.ts'

const database = await testDatabase()
const { db } = database
afterAll(() => database[Symbol.asyncDispose]())
const account = await testAccount(db)
const by = { principal: { ...account, identity_type: 'user' as const }, requestId: 'request' }

/** A credential that was made, updated to `told` and maybe deleted, and is at `stored` now. */
const credential = async (
  id: string,
  { told, stored, deleted = false }: { told: number; stored: number; deleted?: boolean },
) => {
  await db.sql`
    select platform.create_credential(${account.account_id}, ${id}, ${id}, '', 'key', '{}', '', 'key', 'user', 'user', 'request')`
  const done = { target_id: id, target_version: told, outcome: 'done' as const }
  if (told > 1) await recordAudit(db, { ...by, action: 'credential.update' }, done)
  if (deleted) await recordAudit(db, { ...by, action: 'credential.delete' }, done)
  await db.sql`update platform.credentials set current_version = ${stored} where id = ${id}`
}

test('an older version that was put back is found, and a deleted credential that is there again', async () => {
  await credential('cred_as_told', { told: 3, stored: 3 })
  await credential('cred_written_past_the_log', { told: 1, stored: 2 })
  await credential('cred_rolled_back', { told: 3, stored: 2 })
  await credential('cred_undead', { told: 2, stored: 2, deleted: true })
  const problems = await withAccount(db, account.account_id, rolledBackCredentials)
  expect(problems.toSorted()).toEqual([
    'credential cred_rolled_back is at version 2, and was at 3 before',
    'credential cred_undead is there although it was deleted',
  ])
})
