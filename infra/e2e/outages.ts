import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningSimulator } from '@keelson/vendor-simulator'
import { clientsOf } from './bad-input-objects.ts'
import type { RunningServices } from './running-services.ts'

export type World = { services: RunningServices; vendor: RunningSimulator; cutRedis: (() => void) | null }
type Outage = (world: World) => Promise<unknown>

const AT = '2026-01-01T00:00:00Z'
const unknownName = () => `m-${crypto.randomUUID()}`
const ask = (services: RunningServices) => clientsOf(services, services.key)
const settled = (work: Promise<unknown>[]) => Promise.allSettled(work)

const deploy = ({ services }: World, count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      ask(services).platform.createModel({
        body: {
          name: unknownName(),
          model_vendor: 'llmengine',
          vendor_configuration: { model: 'llama-3-8b', gpus: 1 },
        },
      }),
    ),
  )

/** Holds a table for a while, and meanwhile does something that needs it. */
const whileLocked = async ({ services }: World, table: string, ms: number, work: () => Promise<unknown>) => {
  const { sql } = services.database.db
  let working: Promise<unknown> = Promise.resolve()
  await sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`
    working = work()
    await delay(ms)
  })
  await working
}

/** The process that listens on a port, found by its environment. */
const pidOf = (url: string): number => {
  const { port } = new URL(url)
  const isIt = (pid: string) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      return environment.includes(`PORT=${port}`) && readlinkSync(`/proc/${pid}/exe`).endsWith('node')
    } catch {
      return false
    }
  }
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && isIt(name)))
}

/** By alert: what makes it true. Each may be done again and again until it has. */
export const OUTAGES: Record<string, Outage> = {
  KeelsonDown: async ({ services }) => {
    const pid = pidOf(services.url['webhook-worker'])
    process.kill(pid, 'SIGSTOP')
    await delay(4000)
    process.kill(pid, 'SIGCONT')
  },
  KeelsonErrorBudgetBurnsFast: async ({ services }) => {
    const { sql } = services.database.db
    await sql`alter table agent.agents rename to agents_lost`
    try {
      await settled(Array.from({ length: 10 }, () => ask(services).agent.listAgents({})))
    } finally {
      await sql`alter table agent.agents_lost rename to agents`
    }
  },
  KeelsonSlow: (world) =>
    whileLocked(world, 'platform.credentials', 2000, () =>
      settled(Array.from({ length: 20 }, () => ask(world.services).platform.listCredentials({}))),
    ),
  KeelsonShedsLoad: (world) =>
    whileLocked(world, 'platform.credentials', 1000, () =>
      settled(Array.from({ length: 400 }, () => ask(world.services).platform.listCredentials({}))),
    ),
  KeelsonPoolWaits: (world) =>
    whileLocked(world, 'platform.credentials', 4000, () =>
      settled(Array.from({ length: 20 }, () => ask(world.services).platform.listCredentials({}))),
    ),
  KeelsonEventLoopLags: async ({ services }) => {
    const pid = pidOf(services.url['platform-api'])
    // Shorter than a scrape may take: the scrape that waits it out tells of it.
    for (let round = 0; round < 4; round += 1) {
      process.kill(pid, 'SIGSTOP')
      await delay(600)
      process.kill(pid, 'SIGCONT')
      await delay(500)
    }
  },
  KeelsonDeploymentsWait: async (world) => {
    await deploy(world, 1)
    await world.services.database.db.sql`update platform.deployments
      set next_at = now() - interval '2 minutes', lease_until = now() + interval '1 hour' where finished_at is null`
  },
  KeelsonLeasesLost: async (world) => {
    const { sql } = world.services.database.db
    const made = await deploy(world, 10)
    const ids = made.map(({ id }) => id)
    for (let round = 0; round < 200; round += 1) {
      await sql`update platform.deployments set fence = fence + 1
        where model_id = any (${ids}) and finished_at is null and lease_until > now()`
    }
  },
  KeelsonVendorRefusesKey: async (world) => {
    world.vendor.addFault({ kind: 'status', status: 401, count: null })
    await deploy(world, 3)
    await delay(1500)
    world.vendor.clearFaults()
  },
  KeelsonVendorFails: async (world) => {
    world.vendor.addFault({ kind: 'status', status: 503, count: null })
    await deploy(world, 10)
    await delay(3000)
    world.vendor.clearFaults()
  },
  KeelsonOrphans: async (world) => {
    const { sql } = world.services.database.db
    const [model] = await deploy(world, 1)
    await ask(world.services).platform.getModel({ params: { model_id: model!.id }, query: { wait: '20' } })
    await sql`delete from platform.models where id = ${model!.id}`
    await delay(3000)
  },
  KeelsonInvariantBroken: async (world) => {
    const { sql } = world.services.database.db
    const [model] = await deploy(world, 1)
    await ask(world.services).platform.getModel({ params: { model_id: model!.id }, query: { wait: '20' } })
    await sql`update platform.deployments set phase = 'failed' where model_id = ${model!.id}`
    await delay(3000)
  },
  KeelsonSpansPileUp: (world) =>
    whileLocked(world, 'agent.spans', 4000, () =>
      settled(
        Array.from({ length: 14 }, () =>
          ask(world.services).agent.createSpan({
            body: { trace_id: 't', name: 'n', start_time: AT, data: { text: 'x'.repeat(3_500_000) } },
          }),
        ),
      ),
    ),
  KeelsonDeliveriesWait: async ({ services }) => {
    const { sql } = services.database.db
    const { agent } = ask(services)
    const agent_name = `agent-${crypto.randomUUID()}`
    await agent.registerAgent({
      body: { name: agent_name, description: '', acp_url: 'http://127.0.0.1:9/', acp_type: 'sync' },
    })
    const { key_id } = await agent.createWebhookTrigger({
      body: { agent_name, name: 'octocat/late', forward_path: 'x', delivery: 'durable' },
    })
    await sql`insert into agent.webhook_deliveries (account_id, id, agent_id, agent_name, key_id, source, path, query, headers,
        body, status, next_attempt_at, claimed_until)
      select account_id, ${crypto.randomUUID()}, agent_id, ${agent_name}, id, 'github', 'x', '', '{}', '', 'pending',
        now() - interval '10 minutes', now() + interval '1 hour'
      from agent.agent_api_keys where id = ${key_id}`
  },
  KeelsonRedisDown: async ({ cutRedis }) => cutRedis?.(),
  KeelsonQueueBroken: async (world) => {
    world.cutRedis?.()
    await deploy(world, 3)
    await delay(1000)
  },
}

OUTAGES['KeelsonErrorBudgetBurns'] = OUTAGES['KeelsonErrorBudgetBurnsFast']!

/** Alerts about Redis, which need one to cut off. */
export const OF_REDIS: readonly string[] = ['KeelsonRedisDown', 'KeelsonQueueBroken']
