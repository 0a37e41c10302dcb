import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { connect } from '@keelson/database'
import { identityStore } from '@keelson/identity'
import { createMetrics } from '@keelson/service-kit'
import { TEST_PEPPER } from '@keelson/testing'
import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { testApp } from './test-app.fixture.ts'

// A statement gets the plan it keeps at its sixth execution.
const UNTIL_PLANS_ARE_KEPT = 8

test('what is looked up by name or id is not searched for in its account, with plans from when there was little', async () => {
  await using app = await testApp()
  // One connection, so that every statement meets its plan again.
  await using db = connect({ url: app.url, applicationName: 'look-ups', maxConnections: 1 })
  const identities = identityStore(db, TEST_PEPPER)
  const service = createApp({ ...app, db, identities, metrics: createMetrics() })
  const { account_id, headers } = await app.client()
  const client = createClient(agentRoutes, { fetch: service.fetch, headers })
  const { sql } = db
  for (const table of ['agent.agents', 'agent.agent_api_keys', 'identity.identities'])
    await sql.unsafe(`alter table ${table} set (autovacuum_enabled = off)`)

  const registration = { name: 'agent', description: '', acp_url: 'http://127.0.0.1:9', acp_type: 'async' } as const
  const agent = await client.registerAgent({ body: registration })
  const name = 'octocat/hello-world'
  const key = await client.createAgentApiKey({ body: { agent_id: agent.id, name, api_key_type: 'github' } })
  const fill = async (from: number, to: number) => {
    const made = sql`from (select 'name ' || n as name from generate_series(${from}::integer, ${to}::integer) n) as made`
    await sql`
      insert into agent.agents (account_id, id, name, description, acp_url, acp_type, status)
      select ${account_id}, name, name, '', 'http://127.0.0.1:9', 'async', 'Ready' ${made}`
    await sql`
      insert into agent.agent_api_keys (account_id, id, agent_id, name, source, delivery)
      select ${account_id}, name, ${agent.id}, name, 'github', 'sync' ${made}`
    await sql`
      insert into identity.identities (account_id, id, type, name)
      select ${account_id}, name, 'service_account', name ${made}`
  }
  const rowsRead = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`
    const [read] = await sql<[{ rows: number }]>`
      select sum(idx_tup_fetch)::integer as rows from pg_stat_user_tables
      where relname in ('agents', 'agent_api_keys', 'identities')`
    return read.rows
  }

  const lookUps = {
    'an agent by name': () => client.getAgentByName({ params: { agent_name: 'agent' } }),
    'an agent by id': () => client.getAgent({ params: { agent_id: agent.id } }),
    'agents of a name': () => client.listAgents({ query: { name: 'agent' } }),
    'an agent that registers again': () => client.registerAgent({ body: registration }),
    'a key by name': () =>
      client.getAgentApiKeyByName({ params: { name }, query: { agent_id: agent.id, api_key_type: 'github' } }),
    'a key by id': () => client.getAgentApiKey({ params: { key_id: key.id } }),
  }
  await fill(1, 16)
  for (const lookUp of Object.values(lookUps)) for (let n = 0; n < UNTIL_PLANS_ARE_KEPT; n += 1) await lookUp()
  await fill(17, 2000)
  const read: Record<string, number> = {}
  for (const [what, lookUp] of Object.entries(lookUps)) {
    const before = await rowsRead()
    await lookUp()
    read[what] = (await rowsRead()) - before
  }
  expect(Object.entries(read).filter(([, rows]) => rows > 30)).toEqual([])
})
