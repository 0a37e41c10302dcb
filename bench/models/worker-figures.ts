import { setTimeout as delay } from 'node:timers/promises'
import { startSimulator } from '@keelson/vendor-simulator'
import type { Bench } from '../harness/bench.ts'
import { median } from '../harness/figures.ts'
import { startBenchPostgres, type BenchPostgres } from '../harness/postgres.ts'
import { startProcess } from '../harness/processes.ts'
import { supervisedRedis } from '../spans/supervised.ts'
import { bundleDeployer, startDeployer, type DeployerBundle } from './bundled-deployer.ts'
import type { ModelService } from './suite.ts'

const QUEUES = ['redis', 'postgres'] as const
const [FEW, MANY] = [10, 1000]
const CREATED_AT_A_TIME = 16
/** How many times a round's length it takes until the steps of a thousand deployments come as seldom as they will. */
const SETTLING = 10
const SAMPLES = 20
const DEADLINE_MS = 300_000

type Queue = (typeof QUEUES)[number]
type Vendor = Awaited<ReturnType<typeof startSimulator>>

const namesOf = (queue: Queue) => ({
  done: `1,000 deployments created at once at a vendor of 1 s, queue in ${queue}`,
  idle: `CPU of an idle deployer, queue in ${queue}`,
  memory: `memory of a deployer with 1,000 deployments under way against 10, queue in ${queue}`,
})

type Stage = { postgres: BenchPostgres; bundle: DeployerBundle; queue: Queue; redisUrl: string }

/** A service, a vendor and a deployer; nothing is asked of them yet. */
const open = async ({ postgres, bundle, redisUrl }: Stage, vendor: Vendor) => {
  await using stack = new AsyncDisposableStack()
  const service: ModelService = stack.use(
    await startProcess(new URL('service.ts', import.meta.url), [postgres.url, redisUrl]),
  )
  const url = `http://127.0.0.1:${vendor.port}`
  const deployer = stack.use(
    await startDeployer(bundle, {
      DATABASE_URL: postgres.url,
      REDIS_URL: redisUrl,
      LLM_ENGINE_URL: url,
      LLM_ENGINE_API_KEY: 'bench',
    }),
  )
  const create = async (count: number): Promise<void> => {
    const numbers = Array.from({ length: count }, (_, n) => n).values()
    const lane = async () => {
      for (const n of numbers) {
        const body = JSON.stringify({ name: `model ${n}`, vendor_configuration: { model: 'llama-3-8b-instruct' } })
        const headers = { 'x-api-key': service.tokens[0]!, 'content-type': 'application/json' }
        const { status } = await fetch(`${service.url}/v5/models`, { method: 'POST', headers, body })
        if (status !== 200) throw new Error(`a create was answered ${status}`)
      }
    }
    await Promise.all(Array.from({ length: CREATED_AT_A_TIME }, lane))
  }
  const owned = stack.move()
  return { deployer, create, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const inFlight = async (stage: Stage, count: number, seconds: number): Promise<number> => {
  await using vendor = await startSimulator({ timeScale: 1, seed: 1 })
  vendor.configure({ default_profile: 'stuck-in-progress' })
  await using opened = await open(stage, vendor)
  await opened.create(count)
  await delay(SETTLING * seconds * 1000)
  const samples: number[] = []
  while (samples.length < SAMPLES) {
    samples.push(await opened.deployer.residentBytes())
    await delay((SETTLING * seconds * 1000) / SAMPLES)
  }
  return median(samples)
}

/** @returns seconds until all are ready */
const finish = async (stage: Stage, count: number): Promise<number> => {
  // A vendor that builds in 10 s and has workers 5 s later, at fifteen times the speed.
  await using vendor = await startSimulator({ timeScale: 15, seed: 1 })
  await using opened = await open(stage, vendor)
  const started = performance.now()
  await opened.create(count)
  for (;;) {
    const [row] = await stage.postgres.sql<[{ ready: number }]>`
      select count(*)::int as ready from platform.models where status = 'ready'`
    const ms = performance.now() - started
    if (row.ready === count || ms > DEADLINE_MS) return ms / 1000
    await delay(100)
  }
}

const idle = async (stage: Stage, seconds: number): Promise<number> => {
  await using vendor = await startSimulator({ timeScale: 1, seed: 1 })
  await using opened = await open(stage, vendor)
  await delay((SETTLING * seconds * 1000) / 2)
  return await opened.deployer.cpuShare(SETTLING * seconds * 1000)
}

const onOwnPostgres = async <Result>(stage: Omit<Stage, 'postgres'>, work: (stage: Stage) => Promise<Result>) => {
  await using postgres = await startBenchPostgres()
  return await work({ ...stage, postgres })
}

const measureOn = async (bench: Bench, queue: Queue, bundle: DeployerBundle, redisUrl: string): Promise<void> => {
  const { done, idle: idling, memory } = namesOf(queue)
  const stage = { queue, bundle, redisUrl }
  if (bench.isWanted(done)) {
    const values = [await onOwnPostgres(stage, (own) => finish(own, bench.size(MANY)))]
    bench.value({ name: done, unit: 's', goal: { atMost: 120 }, values })
  }
  if (bench.isWanted(idling)) {
    const values = [await onOwnPostgres(stage, (own) => idle(own, bench.seconds))]
    bench.value({ name: idling, unit: '%', goal: { atMost: 1 }, values })
  }
  if (!bench.isWanted(memory)) return
  const few = await onOwnPostgres(stage, (own) => inFlight(own, FEW, bench.seconds))
  const many = await onOwnPostgres(stage, (own) => inFlight(own, bench.size(MANY), bench.seconds))
  const megabytes = (bytes: number) => Math.round(bytes / 1e6)
  bench.value({
    name: `${memory}: ${megabytes(many)} MB against ${megabytes(few)}`,
    unit: 'x',
    goal: { atMost: 1.2 },
    values: [many / few],
  })
}

/** What a deployer needs while it works and while it does not, on both backends of the queue. */
export const workerFigures = async (bench: Bench): Promise<void> => {
  if (!bench.isWanted(...QUEUES.flatMap((queue) => Object.values(namesOf(queue))))) return
  await using bundle = await bundleDeployer()
  for (const queue of QUEUES) {
    await using redis = queue === 'redis' ? await supervisedRedis(bundle.directory) : null
    await measureOn(bench, queue, bundle, redis === null ? '' : `redis://127.0.0.1:${redis.port}`)
  }
}
