import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually, testRedis, tokensIn, tokensInDatabase, watchRedis } from '@keelson/testing'
import { describe, expect, test } from 'vitest'
import { QUICK_DEPLOYER, runningStack } from './running-stack.ts'

const SERVICES = ['platform-api', 'deployer', 'agent-api', 'webhook-worker'] as const
const LOUD = { LOG_LEVEL: 'debug' }
const SETTINGS = {
  ...Object.fromEntries(SERVICES.map((name) => [name, LOUD])),
  deployer: { ...QUICK_DEPLOYER, ...LOUD },
}

const launch = (env_vars: object) => ({
  model_image: {
    command: ['serve'],
    registry: 'registry.example.com',
    repository: 'search/ranker',
    tag: '1',
    env_vars,
  },
  model_infra: { cpus: 1, memory: '2Gi' },
})

type Stack = Awaited<ReturnType<typeof runningStack>>

const tokens: string[] = []
const token = (): string => {
  const made = `canary${randomBytes(15).toString('hex')}`
  tokens.push(made)
  return made
}

/** Deploys a model whose environment names the credential; resolves with what became of it. */
const deploy = async ({ platform }: Stack, name: string) => {
  const vendor_configuration = launch({ TOKEN: { $credential: 'vendor token' } })
  const { id: model_id } = await platform.createModel({ body: { name, vendor_configuration } as never })
  return platform.getModel({ params: { model_id }, query: { wait: '60' } })
}

const vendorsPart = async (stack: Stack) => {
  const payload = token()
  await stack.platform.createCredential({ body: { name: 'vendor token', payload, type: 'key' } })
  expect(await deploy(stack, 'served')).toMatchObject({ status: 'ready' })
  expect(JSON.stringify(stack.simulator.journal())).toContain(payload)
  const quoted = { detail: `TOKEN=${payload} was refused: ${payload}` }
  stack.simulator.addFault({ kind: 'status', status: 400, body: quoted, operation: '*.create', count: null })
  const refused = await deploy(stack, 'refused')
  expect(refused).toMatchObject({ status: 'failed' })
  return JSON.stringify(refused)
}

const agentsPart = async ({ agent, at }: Stack, received: string[], acp_url: string) => {
  await agent.registerAgent({ body: { name: 'triage', description: '', acp_url, acp_type: 'async' } })
  const trigger = {
    agent_name: 'triage',
    name: 'a/b',
    forward_path: 'x',
    delivery: 'durable' as const,
    secret: token(),
  }
  const { secret, webhook_path } = await agent.createWebhookTrigger({ body: trigger })
  const body = JSON.stringify({ repository: { full_name: 'a/b' } })
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'x-hub-signature-256': signature, cookie: token(), 'x-github-delivery': 'one' }
  const answer = await fetch(at('agent-api') + webhook_path, { method: 'POST', headers, body })
  expect(answer.status).toBe(202)
  await eventually(() => expect(received).toHaveLength(1))
}

const backends = [
  ['Postgres', () => null],
  ['Redis', testRedis],
] as const

describe.each(backends)('with the queue in %s', (backend, urlOf) => {
  const redisUrl = urlOf()

  test.skipIf(backend === 'Redis' && redisUrl === null)(
    'what a vendor is given, and what agents sign with, is in no log, metric, job, row or answer of any process',
    async () => {
      const received: string[] = []
      const agent = createServer((request, response) => {
        received.push(JSON.stringify(request.headers))
        request.resume().on('end', () => response.end())
      }).listen(0, '127.0.0.1')
      using redis = redisUrl === null ? null : await watchRedis(redisUrl)
      await using stack = await runningStack({
        services: SERVICES,
        redisUrl: redisUrl ?? undefined,
        settings: SETTINGS,
      })
      tokens.push(stack.api_key)
      const told = await vendorsPart(stack)
      await agentsPart(stack, received, `http://127.0.0.1:${(agent.address() as AddressInfo).port}`)
      agent.close()

      const metrics = await Promise.all(SERVICES.map(async (name) => (await fetch(stack.metricsAt(name))).text()))
      expect(stack.printed.join('')).toContain('"service":"deployer"')
      for (const text of [stack.printed.join(''), told, ...metrics, ...received])
        expect(tokensIn(text, tokens)).toEqual([])
      expect(await tokensInDatabase(stack.db, tokens)).toEqual([])
      expect((await redis?.tokens(tokens)) ?? []).toEqual([])
    },
    60_000,
  )
})
