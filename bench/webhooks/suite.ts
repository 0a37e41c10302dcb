import { createHmac, randomUUID } from 'node:crypto'
import { migrate } from '@keelson/database/migrate'
import type { Bench, Suite } from '../harness/bench.ts'
import type { Request } from '../harness/load-process.ts'
import { startBenchPostgres, type Sql } from '../harness/postgres.ts'
import { startLoader, startProcess, type Loader, type Started } from '../harness/processes.ts'
import { timings } from './timing.ts'

const bodyOf = (full_name: string): string =>
  JSON.stringify({ repository: { full_name }, text: 'All work and no play. '.repeat(50) })
    .slice(0, 1000)
    .concat('"}')

/** Every request is an event of its own: one that the agent accepted before would not be forwarded. */
const push = (repository: string, key: string) => {
  const body = bodyOf(repository)
  const headers = {
    'x-github-event': 'push',
    'x-github-delivery': `${randomUUID()}-{n}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  }
  return { body, headers }
}

type Ingress = Started<{ url: string; secret: string; durableSecret: string }>
type Stage = { bench: Bench; ingress: Ingress; loader: Loader }

const loadsOf = ({ bench, ingress: { url, secret, durableSecret }, loader }: Stage) => {
  const run = (request: Omit<Request, 'method'>, connections: number) =>
    loader.run({ url, requests: [{ method: 'POST', ...request }], connections, seconds: bench.seconds })
  const forward = (path: string) => (connections: number) =>
    run({ path, ...push('octocat/hello-world', secret) }, connections)
  return {
    verified: forward('/agents/forward/name/bench/hooks'),
    unverified: forward('/unverified/hooks'),
    plain: forward('/plain/hooks'),
    durable: (connections: number) =>
      run({ path: '/agents/forward/name/bench/durable', ...push('octocat/durable', durableSecret) }, connections),
  }
}

const forwards = async (stage: Stage) => {
  const { bench } = stage
  const { verified, unverified, plain, durable } = loadsOf(stage)
  const baselines = {
    'the same proxy without verification': unverified,
    'a proxy that neither verifies nor signs': plain,
  }
  for (const [name, baseline] of Object.entries(baselines)) {
    await bench.compare({
      name: `verified forward, 1 KB, 32 connections, against ${name}`,
      unit: 'requests/s',
      baseline: { name, measure: async () => (await baseline(32)).perSecond },
      candidate: { name: 'ingress', measure: async () => (await verified(32)).perSecond },
      goal: { atLeast: 0.7 },
    })
  }
  await bench.measure({
    name: 'latency that verifying and signing add, p50, 1 connection',
    unit: 'ms',
    goal: { atMost: 1 },
    measure: async () => {
      const without = await plain(1)
      return (await verified(1)).p50Ms - without.p50Ms
    },
  })
  await bench.measure({
    name: 'durable events are committed and answered 202, p99, 16 connections',
    unit: 'ms',
    goal: { atMost: 100 },
    measure: async () => (await durable(16)).p99Ms,
  })
}

const costs = async (stage: Stage, sql: Sql) => {
  const measured = { sql, pids: [stage.ingress.pid] }
  const { verified, unverified, plain, durable } = loadsOf(stage)
  const loads = {
    'forward, neither verified nor signed': plain,
    'forward, signed': unverified,
    'forward, verified and signed': verified,
    'durable event': durable,
  }
  for (const [name, load] of Object.entries(loads))
    await stage.bench.cost(name, measured, async () => (await load(32)).requests)
}

/** What verifying and signing webhooks costs, against the same proxy without. */
export const webhooks: Suite = {
  title: 'Webhooks',
  run: async (bench) => {
    const file = new URL('service-process.ts', import.meta.url)
    await using postgres = await startBenchPostgres()
    await migrate(postgres.url)
    using agent = await startProcess<{ url: string }>(file, ['agent'])
    using ingress: Ingress = await startProcess(file, [postgres.url, agent.url])
    using loader = startLoader()
    const stage = { bench, ingress, loader }
    await forwards(stage)
    await timings(bench, { ...ingress, body: bodyOf('octocat/hello-world') })
    await costs(stage, postgres.sql)
  },
}
