import { testAccount, testDatabase } from '@keelson/testing'
import { withAccount } from '@keelson/database'
import { afterAll, expect, test } from 'vitest'
import { recordAudit } from './audit-entry.ts'
import { rolledBackAgentKeys, rolledBackCredentials, rolledBackSigningSecrets } from './keyring-rollback.ts'

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

/** What is stored of an agent's key: its versions, and for each when it ends, if it does. */
type StoredKey = { id: string; told: number; secrets: Record<number, string | null>; deleted?: boolean; agent?: string }

const agentKey = async ({ id, told, secrets, deleted = false, agent = 'agent' }: StoredKey) => {
  const { account_id } = account
  await db.sql`
    insert into agent.agents (account_id, id, name, description, acp_url, acp_type, status)
    values (${account_id}, ${agent}, ${agent}, '', 'http://x', 'async', 'Ready') on conflict do nothing`
  await db.sql`
    insert into agent.agent_api_keys (account_id, id, agent_id, name, source, delivery)
    values (${account_id}, ${id}, ${agent}, ${id}, 'github', 'sync')`
  await withAccount(db, account_id, async (tx) => {
    for (const [version, expires_at] of Object.entries(secrets)) {
      await tx`
        insert into agent.agent_api_key_secrets (account_id, key_id, version, sealed, expires_at)
        values (${account_id}, ${id}, ${version}, '', ${expires_at}::timestamptz)`
    }
  })
  for (let version = 1; version <= told; version += 1) {
    const action = version === 1 ? 'agent_api_key.create' : 'agent_api_key.rotate'
    await recordAudit(db, { ...by, action }, { target_id: id, target_version: version, outcome: 'done' })
  }
  const end = { target_id: id, target_version: null, outcome: 'done' as const }
  if (deleted) await recordAudit(db, { ...by, action: 'agent_api_key.delete' }, end)
}

test("a former secret of an agent's key that was put back is found, and a deleted key that is there again", async () => {
  const [soon, late] = [1, 60].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  await agentKey({ id: 'as told', told: 2, secrets: { 1: soon!, 2: null } })
  await agentKey({ id: 'rolled back', told: 2, secrets: { 1: null } })
  await agentKey({ id: 'put beside', told: 3, secrets: { 1: null, 3: null } })
  await agentKey({ id: 'kept too long', told: 2, secrets: { 1: late!, 2: null } })
  await agentKey({ id: 'undead', told: 1, secrets: { 1: null }, deleted: true })
  await agentKey({ id: 'went with its agent', told: 1, secrets: { 1: null }, agent: 'gone' })
  const gone = { target_id: 'gone', target_version: null, outcome: 'done' as const }
  await recordAudit(db, { ...by, action: 'agent.delete' }, gone)
  await agentKey({ id: 'came with the next', told: 1, secrets: { 1: null }, agent: 'gone' })
  expect(await withAccount(db, account.account_id, rolledBackAgentKeys)).toEqual([
    'agent key kept too long still has a secret from before version 2',
    'agent key put beside still has a secret from before version 3',
    'agent key rolled back is at version 1, and was at 2 before',
    'agent key undead is there although it was deleted',
    'agent key went with its agent is there although it was deleted',
  ])
})

test('the signing secret of a deleted agent that was put back is found, also where the agent was registered anew', async () => {
  const { account_id } = account
  const lives = { 'never deleted': [1], 'registered anew': [2], 'still deleted': [1], 'put beside': [1, 2] }
  for (const [id, versions] of Object.entries(lives)) {
    await db.sql`
      insert into agent.agents (account_id, id, name, description, acp_url, acp_type, status)
      values (${account_id}, ${id}, ${id}, '', 'http://x', 'async', 'Ready')`
    const end = { target_id: id, target_version: 1, outcome: 'done' as const }
    if (id !== 'never deleted') await recordAudit(db, { ...by, action: 'agent.delete' }, end)
    await withAccount(db, account_id, async (tx) => {
      for (const version of versions) {
        await tx`insert into agent.signing_secrets (account_id, agent_id, version, sealed) values (${account_id}, ${id}, ${version}, '')`
      }
    })
  }
  expect(await withAccount(db, account_id, rolledBackSigningSecrets)).toEqual([
    'signing secret 1 of agent put beside is there although the agent was deleted',
    'signing secret 1 of agent still deleted is there although the agent was deleted',
  ])
})
