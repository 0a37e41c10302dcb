import { execFileSync } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { createServiceUsers, settings as serviceUserSettings } from '@keelson/operator/service-users'
import { loadConfig } from '@keelson/service-kit'
import { eventually, freePort, testRedis } from '@keelson/testing'
import { sign } from '@octokit/webhooks-methods'
import { expect, test } from 'vitest'
import { startExampleAgent } from './run-example-agent.ts'
import { runningServices } from './running-services.ts'

test('an agent of thirty lines gets a signed push and a Slack event through triggers made with one curl each', async () => {
  await using services = await runningServices(['agent-api', 'webhook-worker'])
  const url = services.url['agent-api']
  using agent = startExampleAgent(url, services.key, String(await freePort()))
  await eventually(() => expect(agent.lines).toContain('listening'))

  const curl = (body: object): { secret: string; webhook_url: string } =>
    JSON.parse(
      execFileSync(
        'curl',
        ['-sS', `${url}/agent_api_keys/webhook-trigger`, '-H', `Authorization: Bearer ${services.key}`].concat([
          '-H',
          'Content-Type: application/json',
          '-d',
          JSON.stringify(body),
        ]),
        { encoding: 'utf8' },
      ),
    ) as never
  const github = curl({
    agent_name: 'triage',
    name: 'octocat/hello-world',
    forward_path: 'hooks/github',
    delivery: 'durable',
  })
  const secret = 'the-signing-secret-of-the-app'
  const slack = curl({ agent_name: 'triage', name: 'A0123', forward_path: 'hooks/slack', source: 'slack', secret })

  const push = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: 'octocat/hello-world' } })
  const headers = { 'x-hub-signature-256': await sign(github.secret, push), 'x-github-delivery': 'one' }
  const pushed = await fetch(github.webhook_url, { method: 'POST', headers, body: push })
  expect(pushed.status).toBe(202)

  const event = JSON.stringify({ type: 'event_callback', api_app_id: 'A0123', event_id: 'Ev1' })
  const at = String(Math.floor(Date.now() / 1000))
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${at}:${event}`).digest('hex')}`
  const asked = await fetch(slack.webhook_url, {
    method: 'POST',
    headers: { 'x-slack-request-timestamp': at, 'x-slack-signature': signature, 'content-type': 'application/json' },
    body: event,
  })
  expect([asked.status, await asked.json()]).toEqual([200, { ok: true }])
  await eventually(() => expect(agent.lines.toSorted()).toEqual([`github ${push}`, 'listening', `slack ${event}`]))
})

const redisUrl = testRedis()

test.each([{ queue: 'Postgres', redisUrl: null }, ...(redisUrl === null ? [] : [{ queue: 'Redis', redisUrl }])])(
  'the user of agent-api may do all that it and its worker need, with the queue in $queue',
  async ({ redisUrl }) => {
    const [postgresUser, password] = ['agent_api', randomUUID()]
    const logIn = async (ownerUrl: string) => {
      const others = { PLATFORM_API_PASSWORD: randomUUID(), DEPLOYER_PASSWORD: randomUUID() }
      const environment = { DATABASE_URL: ownerUrl, AGENT_API_PASSWORD: password, ...others }
      await createServiceUsers(loadConfig(environment, serviceUserSettings))
      return Object.assign(new URL(ownerUrl), { username: postgresUser, password }).href
    }
    await using services = await runningServices(['agent-api', 'webhook-worker'], { logIn, redisUrl })
    const url = services.url['agent-api']
    using agent = startExampleAgent(url, services.key, String(await freePort()))
    await eventually(() => expect(agent.lines).toContain('listening'))
    const keelson = createClient(agentRoutes, { baseUrl: url, headers: { authorization: `Bearer ${services.key}` } })
    const trigger = { agent_name: 'triage', name: 'a/b', forward_path: 'hooks/github', delivery: 'durable' as const }
    const { secret, webhook_url = '' } = await keelson.createWebhookTrigger({ body: trigger })
    const push = JSON.stringify({ repository: { full_name: 'a/b' } })
    const headers = { 'x-hub-signature-256': await sign(secret, push) }
    expect((await fetch(webhook_url, { method: 'POST', headers, body: push })).status).toBe(202)
    await eventually(async () =>
      expect(await keelson.listDeliveries({ query: {} })).toMatchObject([{ status: 'delivered', attempts: 1 }]),
    )
    await eventually(() => expect(agent.lines).toEqual(['listening', `github ${push}`]))
  },
)
