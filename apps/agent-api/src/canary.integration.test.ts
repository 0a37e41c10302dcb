import document from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { agentRoutes } from '@keelson/contracts/agent'
import { connect } from '@keelson/database'
import { identityStore } from '@keelson/identity'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { agentFixtures, canary, freePort, operationsOf, TEST_PEPPER } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { createKeyring } from './forward/keyring.ts'
import { checkpointWriter } from './checkpoints/checkpoint-writer.ts'
import { spanWriter } from './spans/span-writer.ts'
import { testApp } from './test-app.fixture.ts'

const lines: string[] = []
const destination = { write: (line: string) => void lines.push(line) }
const log = createLogger({ service: 'agent-api', level: 'debug', destination })
const app = await testApp({ log })
const away = connect({ url: `postgres://nobody:x@127.0.0.1:${await freePort()}/none`, applicationName: 'away' })
afterAll(() => Promise.all([app[Symbol.asyncDispose](), away[Symbol.asyncDispose]()]))
const down = createApp({
  ...app,
  metrics: createMetrics(),
  db: away,
  spanWriter: spanWriter(away),
  checkpointWriter: checkpointWriter(away),
  identities: identityStore(away, TEST_PEPPER),
  keyring: createKeyring({ db: away, accountKeys: app.accountKeys, log }),
})

const watched = await canary({
  service: 'agent-api',
  routes: agentRoutes,
  fixtures: agentFixtures,
  db: app.db,
  fetch: app.service.fetch,
  fetchDown: down.fetch,
  lines,
  metrics: () => app.metrics.registry.metrics(),
})

test('what a refused request held is found nowhere, whatever the operation and the fault', async () => {
  for (const operationId of operationsOf(document)) await watched.drive(operationId)
  expect(lines.length).toBeGreaterThan(200)
  expect(await watched.found()).toEqual([])
}, 60_000)

const forward = async (headers: Record<string, string>, service = app.service) => {
  const request = new Request('http://x/agents/forward/name/triage/hooks', { method: 'POST', headers, body: '{}' })
  return (await service.fetch(request)).status
}

test('keys and secrets of agents are found nowhere but in the answer that tells them', async () => {
  const client = await app.client()
  watched.watch(client.token)
  const body = { name: 'triage', description: '', acp_url: 'http://127.0.0.1:9', acp_type: 'async' as const }
  const registered = await client.registerAgent({ body })
  const trigger = { agent_name: 'triage', forward_path: 'hooks', delivery: 'durable' as const }
  const given = watched.token('webhook')
  await client.createWebhookTrigger({ body: { ...trigger, name: 'octocat/given', secret: given } })
  const slack = { ...trigger, source: 'slack' as const, name: 'A1', secret: watched.token('slack') }
  await client.createWebhookTrigger({ body: slack })
  const made = await client.createWebhookTrigger({ body: { ...trigger, name: 'octocat/made' } })
  const key = await client.createAgentApiKey({ body: { agent_id: registered.id, name: 'key', delivery: 'durable' } })
  const rotated = await client.rotateAgentApiKey({ params: { key_id: key.id }, body: {} })
  const told = [registered.agent_api_key, registered.signing_secret, made.secret, key.api_key, rotated.api_key]
  for (const secret of told) watched.watch(secret)

  const authorization = `AgentKey ${rotated.api_key}`
  expect(await forward({ authorization, cookie: watched.token('cookie') })).toBe(202)
  expect(await forward({ authorization: `AgentKey ${watched.token('wrong')}` })).toBe(401)
  expect(await forward({ 'x-hub-signature-256': `sha256=${watched.token('signature')}` })).toBe(401)
  expect(await forward({ authorization }, down)).toBe(503)
  await app.db.sql`update agent.agent_api_key_secrets set sealed = set_byte(sealed, 39, 255 - get_byte(sealed, 39))`
  expect(
    await client.rotateAgentApiKey({ params: { key_id: key.id }, body: { api_key: watched.token('brought') } }),
  ).toBeDefined()
  expect(await watched.found()).toEqual([])
})
