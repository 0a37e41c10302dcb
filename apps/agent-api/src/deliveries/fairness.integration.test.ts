import { connectQueue } from '@keelson/queue'
import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { testIngress } from '../forward/ingress.fixture.ts'
import { githubHeaders, PUSH } from '../forward/signed.fixture.ts'
import { startDeliveryWorker } from './worker.ts'

const CONCURRENCY = 8
const OF_ONE_AGENT = 2
const OF_ONE_ACCOUNT = 4

const ingress = await testIngress()
const { app, agent, scene } = ingress
const queue = await connectQueue({ databaseUrl: app.url })
const worker = startDeliveryWorker({ ...app, queue, attemptMs: 20_000, claimMs: 60_000, concurrency: CONCURRENCY })
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await queue[Symbol.asyncDispose]()
  await ingress[Symbol.asyncDispose]()
})

test('agents that do not answer hold their share of the worker and no more', async () => {
  const release: (() => void)[] = []
  agent.answer = (request, response) => {
    if (request.url!.includes('slow')) release.push(() => response.end())
    else response.end()
  }
  const hanging = await scene()
  for (const agent_name of ['slow-1', 'slow-2', 'slow-3']) {
    const body = { name: agent_name, description: '', acp_url: `${agent.url}/slow`, acp_type: 'async' as const }
    await hanging.client.registerAgent({ body })
    const { secret } = await hanging.trigger('octocat/hello-world', { agent_name, delivery: 'durable' })
    const path = `http://x/agents/forward/name/${agent_name}/hooks`
    for (let event = 0; event < 5; event += 1) {
      const headers = githubHeaders(secret, PUSH)
      await app.service.fetch(new Request(path, { method: 'POST', headers, body: PUSH }))
    }
  }
  await eventually(() => expect(release).toHaveLength(OF_ONE_ACCOUNT))

  const prompt = await scene()
  const { secret } = await prompt.trigger('octocat/hello-world', { delivery: 'durable' })
  for (let event = 0; event < 20; event += 1) await prompt.send('hooks', githubHeaders(secret, PUSH), PUSH)
  await eventually(async () =>
    expect(await prompt.client.listDeliveries({ query: { status: 'delivered' } })).toHaveLength(20),
  )
  expect(release).toHaveLength(OF_ONE_ACCOUNT)
  const rows = await hanging.client.listDeliveries({ query: {} })
  const attempted = Map.groupBy(
    rows.filter(({ attempts }) => attempts > 0),
    (row) => row.agent_name,
  )
  for (const deliveries of attempted.values()) expect(deliveries.length).toBeLessThanOrEqual(OF_ONE_AGENT)

  await eventually(async () => {
    for (const answer of release.splice(0)) answer()
    expect(await hanging.client.listDeliveries({ query: { status: 'delivered' } })).toHaveLength(15)
  })
})
