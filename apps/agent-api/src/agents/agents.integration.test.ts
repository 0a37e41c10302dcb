import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { agentNetwork } from './agent-network.ts'

const app = await testApp()
const guarded = await testApp({
  network: agentNetwork({
    allowPrivate: false,
    resolve: async (name) => [{ address: name === 'rebound.test' ? '10.0.0.7' : '93.184.216.34', family: 4 }],
  }),
})
afterAll(() => Promise.all([app[Symbol.asyncDispose](), guarded[Symbol.asyncDispose]()]))
const client = await app.client()

const registration = (name: string, more: object = {}) => ({
  body: { name, description: 'sorts', acp_url: 'http://127.0.0.1:9', acp_type: 'async' as const, ...more },
})
const coded = (code: string) => expect.objectContaining({ problem: expect.objectContaining({ code }) })

test('registering again changes the agent, keeps its id and signing secret, and issues a fresh key', async () => {
  const first = await client.registerAgent(registration('triage', { registration_metadata: { a: 1, big: 1.0 } }))
  const second = await client.registerAgent(
    registration('triage', { description: 'sorts more', registration_metadata: { b: 2 } }),
  )
  expect(second).toMatchObject({ id: first.id, description: 'sorts more', status: 'Ready' })
  expect(second.signing_secret).toBe(first.signing_secret)
  expect(second.agent_api_key).toMatch(/^klagent_/)
  expect(second.agent_api_key).not.toBe(first.agent_api_key)
  const found = await client.getAgentByName({ params: { agent_name: 'triage' } })
  expect(found.registration_metadata).toEqual({ a: 1, big: 1, b: 2 })
  expect(JSON.stringify(found)).not.toContain('127.0.0.1')
  expect(await client.getAgent({ params: { agent_id: first.id } })).toEqual(found)
})

test("an agent's own key reports spans, reads agents, and changes none", async () => {
  const { agent_api_key, id } = await client.registerAgent(registration('reporter'))
  const call = (method: string, path: string, body?: object) =>
    app.service.fetch(
      new Request(`http://x${path}`, {
        method,
        headers: { 'x-agent-api-key': agent_api_key, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  expect((await call('POST', '/spans', { trace_id: 't', name: 's', start_time: '2026-01-01T00:00:00Z' })).status).toBe(
    200,
  )
  expect((await call('GET', `/agents/${id}`)).status).toBe(200)
  expect((await call('DELETE', `/agents/${id}`)).status).toBe(403)
})

test('an unknown agent_id is 404, a known one may be renamed, but not to a name that is taken', async () => {
  await expect(client.registerAgent(registration('x', { agent_id: 'nobody' }))).rejects.toEqual(coded('not_found'))
  const { id } = await client.registerAgent(registration('before'))
  expect(await client.registerAgent(registration('after', { agent_id: id }))).toMatchObject({ id, name: 'after' })
  await client.registerAgent(registration('taken'))
  await expect(client.registerAgent(registration('taken', { agent_id: id }))).rejects.toEqual(coded('agent_exists'))
})

test('a deleted agent is gone with its keys, and its name comes back with nothing of before', async () => {
  const first = await client.registerAgent(registration('phoenix', { registration_metadata: { old: true } }))
  const [formerSecret] = await app.db.sql`select * from agent.signing_secrets where agent_id = ${first.id}`
  await client.deleteAgent({ params: { agent_id: first.id } })
  await expect(client.getAgent({ params: { agent_id: first.id } })).rejects.toEqual(coded('not_found'))
  await expect(client.deleteAgent({ params: { agent_id: first.id } })).rejects.toEqual(coded('not_found'))
  expect((await client.listAgents({})).map(({ name }) => name)).not.toContain('phoenix')
  const refused = await app.service.fetch(
    new Request('http://x/spans', { headers: { authorization: `Bearer ${first.agent_api_key}` } }),
  )
  expect(refused.status).toBe(401)
  const second = await client.registerAgent(registration('phoenix'))
  expect(second).toMatchObject({ id: first.id, registration_metadata: null })
  expect(second.signing_secret).not.toBe(first.signing_secret)
  await app.db.sql`delete from agent.signing_secrets where agent_id = ${first.id}`
  await app.db.sql`insert into agent.signing_secrets ${app.db.sql(formerSecret!)}`
  const { signing_secret } = await client.registerAgent(registration('phoenix'))
  expect(signing_secret).not.toBe(first.signing_secret)
})

test('concurrent first registrations of one name make one agent', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.registerAgent(registration('crowd'))))
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect(new Set(answers.map(({ signing_secret }) => signing_secret)).size).toBe(1)
  expect(new Set(answers.map(({ agent_api_key }) => agent_api_key)).size).toBe(10)
})

test('lists sort, page and find by name', async () => {
  const other = await app.client()
  for (const name of ['b', 'c', 'a']) await other.registerAgent(registration(name))
  const names = async (query: object) => (await other.listAgents({ query })).map(({ name }) => name)
  expect(await names({ order_by: 'name', order_direction: 'ASC' })).toEqual(['a', 'b', 'c'])
  expect(await names({ order_by: 'name', order_direction: 'asc', limit: 2, page_number: 2 })).toEqual(['c'])
  expect(await names({ name: 'b' })).toEqual(['b'])
})

test('an account sees, changes and deletes no agent of another, and may use the same name', async () => {
  const { id } = await client.registerAgent(registration('shared'))
  const stranger = await app.client()
  await expect(stranger.getAgent({ params: { agent_id: id } })).rejects.toEqual(coded('not_found'))
  await expect(stranger.deleteAgent({ params: { agent_id: id } })).rejects.toEqual(coded('not_found'))
  await expect(stranger.registerAgent(registration('shared', { agent_id: id }))).rejects.toEqual(coded('not_found'))
  expect((await stranger.registerAgent(registration('shared'))).id).not.toBe(id)
  expect((await client.getAgent({ params: { agent_id: id } })).id).toBe(id)
})

test.each([
  'http://169.254.169.254/latest',
  'http://[fd00:ec2::254]/',
  'http://0.0.0.0:80',
  'http://[::ffff:169.254.169.254]/',
  'http://0xa9fea9fe/',
])('a metadata or link-local address is refused even where private ones are allowed: %s', async (acp_url) => {
  await expect(client.registerAgent(registration('evil', { acp_url }))).rejects.toEqual(coded('invalid_request'))
})

test.each(['http://127.0.0.1:1', 'http://10.1.2.3', 'http://[::1]:80', 'http://192.168.0.1', 'http://rebound.test'])(
  'a private address is refused unless the operator allows it: %s',
  async (acp_url) => {
    const careful = await guarded.client()
    await expect(careful.registerAgent(registration('inside', { acp_url }))).rejects.toEqual(coded('invalid_request'))
    expect(await careful.registerAgent(registration('outside', { acp_url: 'http://public.test' }))).toMatchObject({
      name: 'outside',
    })
  },
)

test.each(['ftp://x', 'javascript:alert(1)', 'http://user:pw@host', 'http://host/?q=1', 'nonsense'])(
  'an acp_url that is no plain http URL is refused: %s',
  async (acp_url) => {
    await expect(client.registerAgent(registration('evil', { acp_url }))).rejects.toMatchObject({ status: 422 })
  },
)
