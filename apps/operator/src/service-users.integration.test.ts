import { connect } from '@keelson/database'
import { loadConfig } from '@keelson/service-kit'
import { testDatabase } from '@keelson/testing'
import { expect, test } from 'vitest'
import { createServiceUsers, settings } from './service-users.ts'

const DENIED = { code: '42501' }

const READS: Record<string, { mayRead: string[]; mustNotRead: string[] }> = {
  platform_api: {
    mayRead: ['platform.credentials', 'platform.models', 'identity.api_keys', 'identity.audit_log'],
    mustNotRead: ['agent.spans', 'agent.checkpoints', 'agent.agents'],
  },
  agent_api: {
    mayRead: ['agent.spans', 'agent.checkpoints', 'identity.api_keys'],
    mustNotRead: ['platform.credentials', 'platform.credential_versions', 'platform.models'],
  },
  deployer: {
    mayRead: ['platform.models', 'platform.deployments', 'platform.credential_versions', 'identity.account_keys'],
    mustNotRead: ['agent.spans', 'identity.api_keys', 'identity.identities'],
  },
}

test('each service logs in as a user that reads its own tables and no other service’s', async () => {
  await using database = await testDatabase()
  const passwords = { PLATFORM_API_PASSWORD: "p'w", AGENT_API_PASSWORD: "p'w", DEPLOYER_PASSWORD: "p'w" }
  const config = loadConfig({ DATABASE_URL: database.url, ...passwords }, settings)
  await createServiceUsers(config)
  await createServiceUsers(config)
  for (const [username, { mayRead, mustNotRead }] of Object.entries(READS)) {
    const url = Object.assign(new URL(database.url), { username, password: "p'w" }).href
    await using db = connect({ url, applicationName: 'test', maxConnections: 1 })
    for (const table of mayRead) await db.sql.unsafe(`select from ${table} limit 1`)
    for (const table of mustNotRead)
      await expect(db.sql.unsafe(`select from ${table} limit 1`)).rejects.toMatchObject(DENIED)
    await expect(db.sql`delete from identity.audit_log`).rejects.toMatchObject(DENIED)
  }
})
