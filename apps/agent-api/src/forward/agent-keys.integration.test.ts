import { createSecretKey } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, test } from 'vitest'
import { standardWebhookSecret } from '../agent-api-keys/secret-value.ts'
import { testIngress } from './ingress.fixture.ts'
import { githubHeaders, PUSH } from './signed.fixture.ts'
import { signStandardWebhook } from './verify-standard-webhook.ts'

const ingress = await testIngress()
afterAll(() => ingress[Symbol.asyncDispose]())
const { agent, scene, last, shape } = ingress

describe('agent keys', () => {
  test('a request is handed on as it came: method, path, query and body, byte for byte', async () => {
    const { client, agent_name, send } = await scene()
    const { api_key } = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
    const got = await send('some/p%20th?query=value&x=%2F', { 'x-agent-api-key': api_key })
    expect([got.status, await got.text()]).toEqual([200, 'ok'])
    expect(last()).toMatchObject({ method: 'GET', url: '/base/some/p%20th?query=value&x=%2F' })
    const content = '{"a": 1.0,\n "b":"\u00fc"}'
    await send('api', { authorization: `agentkey  ${api_key}`, 'content-type': 'application/json' }, content)
    expect(last()).toMatchObject({ method: 'POST', url: '/base/api' })
    expect(last().body.toString()).toBe(content)
  })

  test('credentials, cookies, signatures and the headers of the connection stay here; who calls is told', async () => {
    const { client, agent_name, send, signing_secret } = await scene()
    const key = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await send(
      'api',
      {
        'x-agent-api-key': key.api_key,
        cookie: 'a=b',
        'x-api-key': 'k',
        'x-acting-user-id': 'root',
        'x-forwarded-for': '1.2.3.4',
        'x-keelson-account-id': 'spoofed',
        'webhook-id': 'spoofed',
        'x-github-event': 'push',
        'proxy-authorization': 'x',
        te: 'trailers',
        connection: 'keep-alive, accept-language',
        'accept-language': 'de',
        traceparent,
        'user-agent': 'ci/1',
      },
      '{"asked":true}',
    )
    const { headers, body } = last()
    const { host: _host, 'user-agent': agentOfUser, ...rest } = headers
    expect(agentOfUser).toBe('ci/1')
    expect(Object.keys(rest).toSorted()).toEqual([
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'traceparent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-keelson-account-id',
      'x-keelson-agent-id',
      'x-keelson-attempt',
      'x-keelson-key-id',
      'x-keelson-source',
      'x-request-id',
    ])
    expect(headers).toMatchObject({
      'x-keelson-account-id': client.account_id,
      'x-keelson-key-id': key.id,
      'x-keelson-source': 'external',
      'x-keelson-attempt': '1',
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/),
    })
    // The agent tells that it is us with the published library.
    const proofs = headers as Record<string, string>
    expect(new Webhook(signing_secret).verify(body, proofs)).toEqual({ asked: true })
  })

  test('a wrong key, a key of another agent, a deleted one and one in the wrong place are one 401', async () => {
    const { client, agent_name, send } = await scene()
    const other = await scene()
    const key = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
    const otherKey = await other.client.createAgentApiKey({ body: { name: 'ci', agent_name: other.agent_name } })
    const { agent_api_key } = await client.registerAgent({
      body: { name: agent_name, description: '', acp_url: agent.url, acp_type: 'async' },
    })
    const attempts = [
      send('api', {}),
      send('api', { authorization: `Bearer ${client.token}` }),
      send('api', { authorization: `Bearer ${key.api_key}` }),
      send('api', { 'x-agent-api-key': 'wrong' }),
      send('api', { 'x-agent-api-key': otherKey.api_key }),
      send('api', { 'x-agent-api-key': agent_api_key }),
      send('api', { authorization: 'AgentKey ' }),
    ]
    const shapes = await Promise.all((await Promise.all(attempts)).map(shape))
    for (const one of shapes) expect(one).toEqual(shapes[0])
    expect(shapes[0]!.status).toBe(401)
    expect((await send('api', { authorization: `AGENTKEY ${key.api_key}` })).status).toBe(200)
    await client.deleteAgentApiKey({ params: { key_id: key.id } })
    expect(await shape(await send('api', { 'x-agent-api-key': key.api_key }))).toEqual(shapes[0])
  })

  test('several proofs at once are 400', async () => {
    const { send } = await scene()
    const headers = { 'x-agent-api-key': 'k', ...githubHeaders('s', PUSH) }
    expect((await send('hooks', headers, PUSH)).status).toBe(400)
  })
})

describe('Standard Webhooks', () => {
  test('what the library signs opens an external key of that kind', async () => {
    const { client, agent_name, send } = await scene()
    const { api_key } = await client.createAgentApiKey({
      body: { name: 'billing', agent_name, verification: 'standard_webhooks', forward_path: 'billing' },
    })
    const body = '{"paid":true}'
    const headers = (secret: string, at = Date.now() / 1000) => {
      const nowSeconds = Math.floor(at)
      const bytes = createSecretKey(standardWebhookSecret(secret)!)
      const signed = signStandardWebhook(bytes, { id: 'msg_1', body: Buffer.from(body), nowSeconds })
      return { 'webhook-id': signed.id, 'webhook-timestamp': signed.timestamp, 'webhook-signature': signed.signature }
    }
    expect((await send('billing/paid', headers(api_key), body)).status).toBe(200)
    expect((await send('billing', headers(api_key), `${body} `)).status).toBe(401)
    expect((await send('billing', headers(api_key, Date.now() / 1000 - 301), body)).status).toBe(401)
    expect((await send('other', headers(api_key), body)).status).toBe(401)
    expect((await send('billing', { 'x-agent-api-key': api_key }, body)).status).toBe(401)
    const short = {
      name: 'weak',
      agent_name,
      verification: 'standard_webhooks' as const,
      api_key: 'sixteen-characters',
    }
    await expect(client.createAgentApiKey({ body: short })).rejects.toMatchObject({ status: 422 })
  })
})
