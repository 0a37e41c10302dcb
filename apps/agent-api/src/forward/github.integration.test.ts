import { createHmac } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { standardWebhookSecret } from '../agent-api-keys/secret-value.ts'
import { testIngress } from './ingress.fixture.ts'
import { githubHeaders, PUSH } from './signed.fixture.ts'

const ingress = await testIngress()
afterAll(() => ingress[Symbol.asyncDispose]())
const { app, agent, scene, last, shape } = ingress

describe('GitHub', () => {
  test('a signed push reaches the agent, unchanged; unsigned, changed or of another repository it is one 401', async () => {
    const { trigger, send, agent_name } = await scene()
    const { secret } = await trigger('Octocat/Hello-World')
    const good = await send('hooks', githubHeaders(secret, PUSH), PUSH)
    expect(good.status).toBe(200)
    expect(last()).toMatchObject({
      url: '/base/hooks',
      headers: { 'x-github-event': 'push', 'x-keelson-source': 'github' },
    })
    expect(last().headers).not.toHaveProperty('x-hub-signature-256')
    expect(last().body.toString()).toBe(PUSH)
    const before = agent.received.length
    const foreign = PUSH.replace('hello-world', 'other')
    const unknown = await app.service.fetch(
      new Request('http://x/agents/forward/name/nobody/hooks', {
        method: 'POST',
        headers: githubHeaders(secret, PUSH),
        body: PUSH,
      }),
    )
    const refused = [
      send('hooks', githubHeaders('another-secret-of-16', PUSH), PUSH),
      send('hooks', githubHeaders(secret, PUSH), `${PUSH} `),
      send('hooks', githubHeaders(secret, foreign), foreign),
      send('elsewhere', githubHeaders(secret, PUSH), PUSH),
      send('hooksx', githubHeaders(secret, PUSH), PUSH),
      send('hooks', githubHeaders('x', ''), ''),
      send('hooks', githubHeaders('x', '{'), '{'),
      send('hooks', githubHeaders('x', '[]'), '[]'),
      send('hooks', { ...githubHeaders(secret, PUSH), 'x-hub-signature-256': 'sha1=abc' }, PUSH),
    ]
    const shapes = await Promise.all([unknown, ...(await Promise.all(refused))].map(shape))
    for (const one of shapes) expect(one).toEqual(shapes[0])
    expect(shapes[0]).toMatchObject({ status: 401, body: expect.not.stringContaining(agent_name) })
    expect(agent.received).toHaveLength(before)
  })

  test('a delivery that is replayed is 200, counted, and reaches the agent once; another one of the same bytes does too', async () => {
    const duplicates = async () =>
      Number(
        /^webhook_dedup_total\{source="github"\} (\d+)$/m.exec(await app.service.metrics.registry.metrics())?.[1] ?? 0,
      )
    const known = await duplicates()
    const { trigger, send } = await scene()
    const { secret } = await trigger('octocat/hello-world')
    const before = agent.received.length
    const ask = async (delivery: string) => (await send('hooks', githubHeaders(secret, PUSH, delivery), PUSH)).status
    expect([await ask('one'), await ask('one'), await ask('two')]).toEqual([200, 200, 200])
    expect(agent.received.slice(before).map(({ headers }) => headers['x-github-delivery'])).toEqual(['one', 'two'])
    expect(await duplicates()).toBe(known + 1)
  })

  test('a body that is proved but says nothing readable is 400', async () => {
    const { trigger, send } = await scene()
    const { secret } = await trigger('octocat/hello-world')
    for (const body of ['', '{', '[]', 'null']) {
      expect((await send('hooks', githubHeaders(secret, body), body)).status).toBe(400)
    }
  })

  test('forms and organisation events are understood', async () => {
    const { trigger, send } = await scene()
    const { secret } = await trigger('octocat')
    const event = JSON.stringify({ organization: { login: 'Octocat' }, action: 'member_added' })
    expect((await send('hooks', githubHeaders(secret, event), event)).status).toBe(200)
    const form = `payload=${encodeURIComponent(event)}`
    const headers = { ...githubHeaders(secret, form), 'content-type': 'application/x-www-form-urlencoded' }
    expect((await send('hooks/below', headers, form)).status).toBe(200)
    expect(last().body.toString()).toBe(form)
  })

  test('many repositories of one path each keep their own secret', async () => {
    const { trigger, send } = await scene()
    const made = await Promise.all([1, 2, 3, 4].map((index) => trigger(`octocat/repo-${index}`)))
    for (const { name, secret } of made) {
      const body = JSON.stringify({ repository: { full_name: name } })
      expect((await send('hooks', githubHeaders(secret, body), body)).status).toBe(200)
      const other = JSON.stringify({ repository: { full_name: 'octocat/repo-9' } })
      expect((await send('hooks', githubHeaders(secret, other), other)).status).toBe(401)
    }
  })

  test('during a rotation both secrets verify, and after it only the new one', async () => {
    const { trigger, send, client } = await scene()
    const { key_id, secret } = await trigger('octocat/hello-world')
    const params = { key_id }
    const { api_key: second } = await client.rotateAgentApiKey({ params, body: { grace_seconds: 60 } })
    const status = async (one: string) => (await send('hooks', githubHeaders(one, PUSH), PUSH)).status
    expect([await status(secret), await status(second)]).toEqual([200, 200])
    const { api_key: third } = await client.rotateAgentApiKey({ params, body: { grace_seconds: 0 } })
    expect([await status(secret), await status(second), await status(third)]).toEqual([401, 401, 200])
  })
})

test('two accounts may have agents of one name: each secret reaches its own', async () => {
  const [one, two] = [await scene('twins'), await scene('twins')]
  const [first, second] = [await one.trigger('octocat/hello-world'), await two.trigger('octocat/hello-world')]
  for (const [client, { secret }] of [
    [one.client, first],
    [two.client, second],
  ] as const) {
    expect((await one.send('hooks', githubHeaders(secret, PUSH), PUSH)).status).toBe(200)
    expect(last().headers['x-keelson-account-id']).toBe(client.account_id)
  }
})

test('paths that could climb are 400 before anything is looked up', async () => {
  const { trigger } = await scene('climber')
  const { secret } = await trigger('octocat/hello-world')
  for (const path of ['hooks/..%2fapi', 'hooks//evil', 'hooks/%00', 'hooks/%5c', 'hooks/a;b', 'hooks/%252e%252e']) {
    const request = new Request(`http://x/agents/forward/name/climber/${path}`, {
      method: 'POST',
      headers: githubHeaders(secret, PUSH),
      body: PUSH,
    })
    expect((await app.service.fetch(request)).status).toBe(400)
  }
})

test('a secret whose stored bytes were changed verifies nothing and takes no other down', async () => {
  const { trigger, send, client, agent_name } = await scene()
  const { secret, key_id } = await trigger('octocat/hello-world')
  const { api_key } = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
  await app.db.sql`
    update agent.agent_api_key_secrets set sealed = set_byte(sealed, 60, get_byte(sealed, 60) # 1) where key_id = ${key_id}`
  expect((await send('hooks', githubHeaders(secret, PUSH), PUSH)).status).toBe(401)
  expect((await send('api', { 'x-agent-api-key': api_key })).status).toBe(200)
})

test('a secret moved to another key opens nothing there', async () => {
  const { trigger, send } = await scene()
  const [one, two] = [await trigger('octocat/hello-world'), await trigger('octocat/other')]
  await app.db.sql`
    update agent.agent_api_key_secrets set sealed = (select sealed from agent.agent_api_key_secrets where key_id = ${two.key_id})
    where key_id = ${one.key_id}`
  expect((await send('hooks', githubHeaders(two.secret, PUSH), PUSH)).status).toBe(401)
})

test('the digest of the hop covers the bytes that were sent', async () => {
  const { trigger, send, signing_secret } = await scene()
  const { secret } = await trigger('octocat/hello-world')
  await send('hooks', githubHeaders(secret, PUSH), PUSH)
  const { headers, body } = last()
  const mac = createHmac('sha256', standardWebhookSecret(signing_secret)!)
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`)
    .update(body)
    .digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${mac}`)
})
