import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

test('every change of agents and their keys leaves a row with actor, target, version and request id', async () => {
  const client = await app.client()
  const headers = { 'x-request-id': 'the-request' }
  const registration = { name: 'triage', description: '', acp_url: 'http://127.0.0.1:9', acp_type: 'async' as const }
  const { id: agent_id } = await client.registerAgent({ body: registration, headers })
  const trigger = { agent_name: 'triage', name: 'octocat/one', forward_path: 'hooks' }
  const { key_id } = await client.createWebhookTrigger({ body: trigger, headers })
  const other = await client.createAgentApiKey({ body: { agent_id, name: 'other' }, headers })
  await client.rotateAgentApiKey({ params: { key_id }, body: {}, headers })
  await client.deleteAgentApiKey({ params: { key_id }, headers })
  await client.deleteAgentApiKeyByName({ params: { name: 'other' }, query: { agent_id }, headers })
  await client.deleteAgent({ params: { agent_id }, headers })

  const rows = await app.db.sql<Record<string, unknown>[]>`
    select action, target_id, target_version, outcome, key_id, identity_id, identity_type from identity.audit_log
    where account_id = ${client.account_id} and request_id = 'the-request' order by seq`
  expect(rows.map(({ action, target_id, target_version }) => [action, target_id, target_version])).toEqual([
    ['agent.register', agent_id, null],
    ['identity.create', expect.stringMatching(/^svc_/), null],
    ['api_key.issue', expect.stringMatching(/^key_/), null],
    ['agent_api_key.create', key_id, 1],
    ['agent_api_key.create', other.id, 1],
    ['agent_api_key.rotate', key_id, 2],
    ['agent_api_key.delete', key_id, null],
    ['agent_api_key.delete', other.id, null],
    ['agent.delete', agent_id, 1],
    ['api_key.revoke', rows[2]!['target_id'], null],
  ])
  const by = { outcome: 'done', key_id: client.key_id, identity_id: client.identity_id, identity_type: 'user' }
  for (const row of rows) expect(row).toMatchObject(by)
})
