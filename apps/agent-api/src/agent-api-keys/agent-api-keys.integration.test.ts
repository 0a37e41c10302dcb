import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
const homeless = await testApp({ publicUrl: null })
afterAll(() => Promise.all([app[Symbol.asyncDispose](), homeless[Symbol.asyncDispose]()]))

const coded = (code: string) => expect.objectContaining({ problem: expect.objectContaining({ code }) })

const clientWithAgent = async (agent_name: string, of = app) => {
  const client = await of.client()
  const body = { name: agent_name, description: '', acp_url: 'http://127.0.0.1:9', acp_type: 'async' as const }
  const { id: agent_id } = await client.registerAgent({ body })
  return { ...client, agent_id }
}
const client = await clientWithAgent('triage')
const trigger = (name: string, more: object = {}) => ({
  body: { agent_name: 'triage', name, forward_path: 'hooks', ...more },
})

test('a trigger is of github by default, with a generated secret and the configured address', async () => {
  const answer = await client.createWebhookTrigger(trigger('octocat/one', { forward_path: '//hooks/github' }))
  expect(answer).toMatchObject({
    agent_name: 'triage',
    name: 'octocat/one',
    source: 'github',
    delivery: 'sync',
    webhook_path: '/agents/forward/name/triage/hooks/github',
    webhook_url: 'https://agents.example.com/agents/forward/name/triage/hooks/github',
  })
  expect(answer.secret).toMatch(/^[0-9a-f]{64}$/)
})

test('given secrets and addresses are kept; without any address there is no URL', async () => {
  const secret = 'an-existing-webhook-secret'
  const given = await client.createWebhookTrigger(trigger('octocat/two', { secret, base_url: 'https://hooks.test/' }))
  expect(given).toMatchObject({ secret, webhook_url: 'https://hooks.test/agents/forward/name/triage/hooks' })
  const other = await clientWithAgent('triage', homeless)
  expect(await other.createWebhookTrigger(trigger('octocat/two'))).not.toHaveProperty('webhook_url')
})

test('what has a meaning in URLs is percent-encoded in the path', async () => {
  const answer = await client.createWebhookTrigger(
    trigger('octocat/three', { forward_path: 'cfg-9?mode=review#frag ment' }),
  )
  expect(answer.webhook_path).toBe('/agents/forward/name/triage/cfg-9%3Fmode%3Dreview%23frag%20ment')
})

test.each([
  ['line\nbreak', {}],
  ['a/../b', {}],
  ['./a', {}],
  ['a\\b', {}],
  ['a;b', {}],
  ['%2e%2e/x', {}],
  ['a//b', {}],
  ['hooks', { secret: '' }],
  ['hooks', { secret: 'too-short' }],
  ['hooks', { source: 'slack' }],
  ['hooks', { base_url: 'javascript:alert(1)' }],
  ['hooks', { base_url: 'https://u:p@host' }],
])('forward_path %j with %j is refused and nothing is created', async (forward_path, more) => {
  const before = await client.listAgentApiKeys({ query: { agent_name: 'triage' } })
  await expect(client.createWebhookTrigger(trigger('octocat/bad', { forward_path, ...more }))).rejects.toEqual(
    coded('invalid_request'),
  )
  expect(await client.listAgentApiKeys({ query: { agent_name: 'triage' } })).toEqual(before)
})

test('other sources are 400, unknown agents 404, a second key of agent, name and source 409', async () => {
  for (const source of ['internal', 'external']) {
    await expect(client.createWebhookTrigger(trigger('n', { source }))).rejects.toEqual(coded('unsupported_source'))
  }
  await expect(client.createWebhookTrigger(trigger('n', { agent_name: 'nobody' }))).rejects.toEqual(coded('not_found'))
  await client.createWebhookTrigger(trigger('octocat/twice'))
  await expect(client.createWebhookTrigger(trigger('octocat/twice'))).rejects.toEqual(coded('agent_api_key_exists'))
  await client.createWebhookTrigger(trigger('octocat/twice', { source: 'slack', secret: 'a'.repeat(32) }))
})

test('of a hundred concurrent creates of one name exactly one succeeds', async () => {
  const all = Array.from({ length: 100 }, () => client.createWebhookTrigger(trigger('octocat/race')))
  const answers = await Promise.allSettled(all)
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(
    answers.filter((one) => one.status === 'rejected' && one.reason.problem?.code === 'agent_api_key_exists'),
  ).toHaveLength(99)
})

test('a key of an agent needs exactly one of its id and name', async () => {
  const both = { agent_id: client.agent_id, agent_name: 'triage' }
  for (const owner of [{}, both]) {
    await expect(client.createAgentApiKey({ body: { name: 'n', ...owner } })).rejects.toEqual(coded('invalid_request'))
    await expect(client.listAgentApiKeys({ query: owner })).rejects.toEqual(coded('invalid_request'))
    await expect(client.getAgentApiKeyByName({ params: { name: 'n' }, query: owner })).rejects.toEqual(
      coded('invalid_request'),
    )
    await expect(client.deleteAgentApiKeyByName({ params: { name: 'n' }, query: owner })).rejects.toEqual(
      coded('invalid_request'),
    )
  }
  await expect(client.createAgentApiKey({ body: { name: 'n', agent_id: 'nobody' } })).rejects.toEqual(
    coded('not_found'),
  )
})

test('a key is told once and never again, by id or by name', async () => {
  const { api_key, ...told } = await client.createAgentApiKey({ body: { name: 'ci/main', agent_name: 'triage' } })
  expect(api_key).toHaveLength(64)
  expect(told).toMatchObject({ api_key_type: 'external', verification: 'key', forward_path: null, delivery: 'sync' })
  expect(await client.getAgentApiKey({ params: { key_id: told.id } })).toEqual(told)
  const byName = { params: { name: 'ci/main' }, query: { agent_id: client.agent_id } }
  expect(await client.getAgentApiKeyByName(byName)).toEqual(told)
  const listed = await client.listAgentApiKeys({ query: { agent_id: client.agent_id } })
  expect(listed.at(-1)).toEqual(told)
  expect(JSON.stringify(listed)).not.toContain(api_key)
  await expect(client.createAgentApiKey({ body: { name: 'ci/main', agent_name: 'triage' } })).rejects.toEqual(
    coded('agent_api_key_exists'),
  )
  await client.deleteAgentApiKeyByName(byName)
  await expect(client.deleteAgentApiKeyByName(byName)).rejects.toEqual(coded('not_found'))
  await expect(client.deleteAgentApiKey({ params: { key_id: told.id } })).rejects.toEqual(coded('not_found'))
})

test('a rotation tells a new value and until when the one before works', async () => {
  const key = await client.createAgentApiKey({ body: { name: 'rotating', agent_name: 'triage' } })
  const params = { key_id: key.id }
  const rotated = await client.rotateAgentApiKey({ params, body: { grace_seconds: 60 } })
  expect(rotated.api_key).not.toBe(key.api_key)
  expect(Date.parse(rotated.previous_expires_at!) - Date.parse(rotated.rotated_at!)).toBe(60_000)
  expect(await client.rotateAgentApiKey({ params, body: { grace_seconds: 0 } })).toMatchObject({
    previous_expires_at: null,
  })
})

test('an account reaches no key of another', async () => {
  const { id: key_id } = await client.createAgentApiKey({ body: { name: 'mine', agent_name: 'triage' } })
  const stranger = await clientWithAgent('triage')
  const params = { key_id }
  await expect(stranger.getAgentApiKey({ params })).rejects.toEqual(coded('not_found'))
  await expect(stranger.rotateAgentApiKey({ params, body: {} })).rejects.toEqual(coded('not_found'))
  await expect(stranger.deleteAgentApiKey({ params })).rejects.toEqual(coded('not_found'))
  await expect(stranger.listAgentApiKeys({ query: { agent_id: client.agent_id } })).rejects.toEqual(coded('not_found'))
  expect((await client.getAgentApiKey({ params })).id).toBe(key_id)
})

test('neither a signing secret nor an agent key opens the API', async () => {
  const { secret } = await client.createWebhookTrigger(trigger('octocat/no-key'))
  const { api_key } = await client.createAgentApiKey({ body: { name: 'no-key', agent_name: 'triage' } })
  for (const key of [secret, api_key]) {
    for (const headers of [{ 'x-agent-api-key': key }, { authorization: `Bearer ${key}` }]) {
      expect((await app.service.fetch(new Request('http://x/spans', { headers }))).status).toBe(401)
    }
  }
})

test('no secret is stored in the clear, in any table', async () => {
  const canary = 'CANARY-webhook-secret-5d1f'
  await client.createWebhookTrigger(trigger('octocat/canary', { secret: canary }))
  await client.createAgentApiKey({ body: { name: 'canary', agent_name: 'triage', api_key: canary } })
  const tables = await app.db.sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in ('agent', 'identity', 'platform')`
  const hex = Buffer.from(canary).toString('hex')
  for (const { name } of tables) {
    const [row] = await app.db.sql.unsafe(
      `select count(*)::int as hits from ${name} t where t::text like '%${canary}%' or t::text like '%${hex}%'`,
    )
    expect([name, row!['hits']]).toEqual([name, 0])
  }
})
