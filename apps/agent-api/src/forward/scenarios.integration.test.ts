import { ProblemError } from '@keelson/contracts/client'
import { agentApiKeys } from '@keelson/contracts/agent'
import { afterAll, describe, expect, test } from 'vitest'
import { testIngress } from './ingress.fixture.ts'
import { githubHeaders, PUSH, slackHeaders } from './signed.fixture.ts'

const ingress = await testIngress()
afterAll(() => ingress[Symbol.asyncDispose]())
const { agent, app, scene, last } = ingress

const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: unknown) => (error instanceof ProblemError ? error.status : Promise.reject(error)),
  )

const slackSecret = 'slack-signing-secret-1'
const EVENT = JSON.stringify({ type: 'event_callback', api_app_id: 'A1', event_id: 'Ev1' })

describe('what clients of the original rely on', () => {
  test('keys are created, listed, read and deleted for exactly one agent, which must be there', async () => {
    const { client, agent_name } = await scene()
    const { id: agent_id } = await client.getAgentByName({ params: { agent_name } })
    const of = (owner: object) => [
      statusOf(client.createAgentApiKey({ body: { name: 'n', ...owner } })),
      statusOf(client.listAgentApiKeys({ query: owner })),
      statusOf(client.getAgentApiKeyByName({ params: { name: 'n' }, query: owner })),
      statusOf(client.deleteAgentApiKeyByName({ params: { name: 'n' }, query: owner })),
    ]
    expect(await Promise.all(of({}))).toEqual([422, 422, 422, 422])
    expect(await Promise.all(of({ agent_id, agent_name }))).toEqual([422, 422, 422, 422])
    expect(await Promise.all(of({ agent_name: 'nobody' }))).toEqual([404, 404, 404, 404])
  })

  test('a key, made by id or by name of its agent, is told once and listed without its value; its name is taken', async () => {
    const { client, agent_name } = await scene()
    const { id: agent_id } = await client.getAgentByName({ params: { agent_name } })
    for (const [index, owner] of [{ agent_id }, { agent_name }].entries()) {
      const body = { name: `key ${index}`, ...owner }
      const { api_key } = await client.createAgentApiKey({ body })
      const listed = await client.listAgentApiKeys({ query: owner })
      expect(listed).toHaveLength(index + 1)
      expect(JSON.stringify(listed)).not.toContain(api_key)
      expect(await statusOf(client.createAgentApiKey({ body }))).toBe(409)
    }
  })

  test('a key deleted by name or id is answered with a text, and then it is 404', async () => {
    const { client, agent_name } = await scene()
    await client.createAgentApiKey({ body: { name: 'by name', agent_name } })
    const { id: key_id } = await client.createAgentApiKey({ body: { name: 'by id', agent_name } })
    const ways = [
      [agentApiKeys.deleteAgentApiKeyByName, { params: { name: 'by name' }, query: { agent_name } }],
      [agentApiKeys.deleteAgentApiKey, { params: { key_id } }],
    ] as const
    for (const [route, request] of ways) {
      const { status, text } = await client.raw(route, request)
      expect([status, typeof JSON.parse(text)]).toEqual([200, 'string'])
      expect(await client.raw(route, request)).toMatchObject({ status: 404 })
    }
  })

  test('a GET with an agent key reaches path and query of the agent, a POST with its bytes', async () => {
    const { client, agent_name, send } = await scene()
    const { api_key } = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
    expect((await send('some/path?query=value', { 'x-agent-api-key': api_key })).status).toBe(200)
    expect(last()).toMatchObject({ method: 'GET', url: '/base/some/path?query=value' })
    const body = '{"b": 1.0 ,"a":"\\u00fc"}\n'
    expect((await send('some/path', { 'x-agent-api-key': api_key }, body)).status).toBe(200)
    expect(last().body.toString()).toBe(body)
  })

  test('GitHub, step by step: whoever signs hears what is wrong with the body, all others one 401', async () => {
    const { send, trigger } = await scene()
    const { secret } = await trigger('octocat/hello-world')
    const before = agent.received.length
    const ask = async (body: string, signedWith = secret) =>
      (await send('hooks', githubHeaders(signedWith, body), body)).status
    expect(await ask('')).toBe(400)
    expect(await ask('{')).toBe(400)
    expect(await ask('{}')).toBe(401)
    expect(await ask('{"repository":{}}')).toBe(401)
    expect(await ask(PUSH.replace('hello-world', 'unknown'))).toBe(401)
    expect(await ask(PUSH, 'another-secret-of-16')).toBe(401)
    for (const body of ['', '{', '{}']) expect(await ask(body, 'another-secret-of-16')).toBe(401)
    expect(agent.received).toHaveLength(before)
    expect(await ask(PUSH)).toBe(200)
  })

  test('Slack, step by step: challenges are answered to whoever signs, all others hear one 401', async () => {
    const { send, trigger } = await scene()
    await trigger('A1', { source: 'slack', secret: slackSecret })
    const before = agent.received.length
    const now = Date.now() / 1000
    const ask = async (body: string, change: object = {}, at = now, secret = slackSecret) => {
      const headers = { ...slackHeaders(secret, body, { at }), ...change }
      return send('hooks', JSON.parse(JSON.stringify(headers)), body)
    }
    const status = async (...request: Parameters<typeof ask>) => (await ask(...request)).status
    const challenge = JSON.stringify({ type: 'url_verification', challenge: 'prove-it' })
    expect(await status('{')).toBe(400)
    expect(await (await ask(challenge)).text()).toBe('prove-it')
    expect(await status(challenge, { 'x-slack-signature': 'v0=garbage' })).toBe(401)
    expect(await status(EVENT, { 'x-slack-request-timestamp': undefined })).toBe(401)
    expect(await status(EVENT, { 'x-slack-request-timestamp': 'soon' })).toBe(401)
    expect(await status(EVENT, {}, now - 600)).toBe(401)
    expect(await status('{"type":"event_callback"}')).toBe(401)
    expect(await status(EVENT.replace('A1', 'A2'))).toBe(401)
    expect(await status(EVENT, {}, now, 'another-secret-of-16')).toBe(401)
    expect(agent.received).toHaveLength(before)
    expect(await status(EVENT)).toBe(200)
  })

  test('no agent, no proof, a wrong, revoked or foreign key and a Bearer are one 401; AgentKey has no case', async () => {
    const [{ client, agent_name, send }, other] = [await scene(), await scene()]
    const key = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
    const foreign = await other.client.createAgentApiKey({ body: { name: 'ci', agent_name: other.agent_name } })
    const statuses = async (...all: Record<string, string>[]) =>
      Promise.all(all.map(async (headers) => (await send('api', headers)).status))
    const shown = { authorization: `AgentKey ${key.api_key}` }
    const request = new Request('http://x/agents/forward/name/nobody/api', { headers: shown })
    expect((await app.service.fetch(request)).status).toBe(401)
    expect(
      await statuses(
        {},
        { 'x-agent-api-key': 'invalid' },
        { authorization: `AgentKey ${foreign.api_key}` },
        { authorization: `Bearer ${key.api_key}` },
        { authorization: `Bearer ${client.token}` },
      ),
    ).toEqual([401, 401, 401, 401, 401])
    expect(await statuses(shown, { authorization: `aGENTkEY ${key.api_key}` })).toEqual([200, 200])
    await client.deleteAgentApiKey({ params: { key_id: key.id } })
    expect(await statuses(shown)).toEqual([401])
  })

  test('a trigger composes its address, makes or keeps its secret, and leaves nothing behind where it is refused', async () => {
    const { client, trigger } = await scene('golden-agent')
    const { secret, webhook_path, webhook_url } = await trigger('octocat/one', {
      forward_path: 'cfg-9?mode=review#frag ment',
    })
    expect(webhook_path).toBe('/agents/forward/name/golden-agent/cfg-9%3Fmode%3Dreview%23frag%20ment')
    expect(webhook_url).toBe(`https://agents.example.com${webhook_path}`)
    expect(secret.length).toBeGreaterThanOrEqual(32)
    const given = 'an-existing-webhook-secret'
    expect(await trigger('octocat/two', { secret: given })).toMatchObject({ secret: given })
    expect(await trigger('A1', { source: 'slack', secret: slackSecret })).toMatchObject({ secret: slackSecret })
    const refused = [
      trigger('octocat/three', { forward_path: 'line\nbreak' }),
      trigger('octocat/three', { secret: '' }),
      trigger('A2', { source: 'slack' }),
      trigger('octocat/three', { source: 'external' }),
      trigger('octocat/one'),
    ]
    expect(await Promise.all(refused.map(statusOf))).toEqual([422, 422, 422, 400, 409])
    expect(await client.listAgentApiKeys({ query: { agent_name: 'golden-agent' } })).toHaveLength(3)
  })
})
