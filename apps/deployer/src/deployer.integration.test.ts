import { connectQueue, migrateQueue } from '@keelson/queue'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { eventually, testRedis } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDeployer } from './deployer.ts'
import type { Requested } from './fixtures/requests.fixture.ts'
import { LAUNCH, LIMITS, LLM, testWorld, type TestWorld } from './fixtures/world.fixture.ts'
import { deployerMetrics } from './metrics.ts'
import { endpointName } from './vendors/vendor.ts'

const MODELS = 20
const WITHIN = { deadlineMs: 12_000 }

let world: TestWorld

beforeAll(async () => {
  world = await testWorld({ limits: { pollMinMs: 50, confirmMs: 20 }, requestTimeoutMs: 4_000 })
  world.simulator.configure({ default_profile: 'instant' })
})
afterAll(() => world[Symbol.asyncDispose]())

const CONFIG = {
  stepMs: 5_000,
  LEASE: 30_000,
  limits: { ...LIMITS, pollMinMs: 50, confirmMs: 20 },
  SWEEP_INTERVAL: 100,
  WORKER_CONCURRENCY: 8,
  OBSERVE_INTERVAL: 600_000,
  ORPHAN_INTERVAL: 600_000,
  REMOVE_ORPHANS: false,
}

const redisUrl = testRedis()

const openQueue = async (kind: string) => {
  if (kind === 'no queue at all') return null
  if (kind === 'Redis') return connectQueue({ redisUrl: redisUrl! })
  await migrateQueue(world.databaseUrl)
  return connectQueue({ databaseUrl: world.databaseUrl })
}

const KINDS = [...(redisUrl === null ? [] : ['Redis']), 'Postgres', 'no queue at all']

const running = async (kind: string) => {
  const stack = new AsyncDisposableStack()
  const queue = await openQueue(kind)
  if (queue) stack.use(queue)
  const { db, store, ports } = world
  const metrics = deployerMetrics(createMetrics(), store.backlog)
  const log = createLogger({ service: 'deployer', level: 'silent' })
  const hurry = new AbortController().signal
  stack.use(startDeployer({ config: CONFIG, db, store, queue, vendors: ports.vendors, metrics, log, hurry }))
  const ring = async ({ account_id, deployment_id }: Requested) =>
    queue?.ring('advance_deployment', { account_id, deployment_id })
  return { metrics, ring, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe('a running deployer', () => {
  test.each(KINDS)('deploys and removes models with %s', async (kind) => {
    await using deployer = await running(kind)
    const { metrics, ring } = deployer
    const requested = await Promise.all(
      Array.from({ length: MODELS }, (_, index) =>
        index % 2 ? world.create('launch', LAUNCH) : world.create('llmengine', LLM),
      ),
    )
    await Promise.all(requested.map(ring))
    const ids = requested.map(({ model_id }) => model_id)
    await eventually(async () => {
      for (const id of ids) expect(await world.model(id)).toMatchObject({ status: 'ready' })
    }, WITHIN)
    expect(world.simulator.violations()).toEqual([])

    const removals = await Promise.all(ids.map((id) => world.remove(id)))
    await Promise.all(removals.map(ring))
    await eventually(async () => {
      for (const id of ids) expect(await world.model(id)).toBeNull()
    }, WITHIN)
    expect(ids.map((id) => world.simulator.endpoint(endpointName(id)))).toEqual(ids.map(() => null))
    const ended = await metrics.deployments.get()
    expect(ended.values.reduce((sum, { value }) => sum + value, 0)).toBe(2 * MODELS)
  })

  test.each(KINDS)(
    'does not let an account with many deployments starve one with a single one, with %s',
    async (kind) => {
      world.reset()
      await using deployer = await running(kind)
      world.simulator.addFault({ kind: 'delay', interval_ms: 50, count: null })
      const greedy = `acct_greedy ${kind}`
      const many = await Promise.all(Array.from({ length: 60 }, () => world.create('llmengine', LLM, greedy)))
      await Promise.all(many.map(deployer.ring))
      const modest = await world.create('llmengine', LLM, 'acct_modest')
      await deployer.ring(modest)
      await eventually(
        async () => expect(await world.model(modest.model_id)).toMatchObject({ status: 'ready' }),
        WITHIN,
      )
      const [ready] = await world.db.sql<[{ count: number }]>`
      select count(*)::int from platform.models where account_id = ${greedy} and status = 'ready'`
      expect(ready.count).toBeLessThan(many.length / 2)
      world.simulator.clearFaults()
      await eventually(async () => {
        const left = await world.db.sql`select from platform.models where status = 'deploying'`
        expect(left).toHaveLength(0)
      }, WITHIN)
    },
  )
})
