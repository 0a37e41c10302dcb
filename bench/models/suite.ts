import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { typeId } from '@keelson/service-kit'
import type { Bench, Suite } from '../harness/bench.ts'
import type { Loaded, Request } from '../harness/load-process.ts'
import { startBenchPostgres, type BenchPostgres, type Sql } from '../harness/postgres.ts'
import { startLoader, startProcess, type Loader, type Started } from '../harness/processes.ts'
import { supervisedRedis } from '../spans/supervised.ts'
import { histories } from './histories.ts'
import { workerFigures } from './worker-figures.ts'

export type ModelService = Started<{
  url: string
  insertUrl: string
  tokens: string[]
  account_id: string
  identity_id: string
}>

type Queue = 'redis' | 'postgres'
type Run = (url: string, connections: number, request: Request) => Promise<Loaded>
type Stage = { bench: Bench; service: ModelService; postgres: BenchPostgres; run: Run }

const CONNECTIONS = 4
/** How long a caller waits by itself, and beside others that want the same two cores. */
const CALLERS = [1, CONNECTIONS]
const LISTED = 100_000
const PAGE = 100
const createFigure = (queue: Queue, callers: number) =>
  `POST /v5/models, ${callers} connection${callers === 1 ? '' : 's'}, p50, queue in ${queue}`
const createFigures = (queue: Queue) => CALLERS.map((callers) => createFigure(queue, callers))
const PAGE_FIGURE = 'list page 1,000 of 100,000 models, `total` included, p50'
const BODY = JSON.stringify({ name: 'bench {n}', vendor_configuration: { model: 'llama-3-8b-instruct' } })

/** Hosted models, which nobody deploys; resolves with their ids, newest first. */
const layOutModels = async (sql: Sql, { account_id, identity_id }: ModelService, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => typeId('model'))
  for (let from = 0; from < count; from += 10_000) {
    await sql`
      insert into platform.models (account_id, id, name, model_type, model_vendor, status, created_by_identity_type,
        created_by_user_id)
      select ${account_id}, id, id, 'generic', 'openai', 'ready', 'user', ${identity_id}
      from unnest(${ids.slice(from, from + 10_000)}::text[]) as id`
  }
  await sql`vacuum analyze platform.models`
  return ids.toSorted().toReversed()
}

/** Every request has a number of its own, whatever it is measured for. */
const numberedLoads = (bench: Bench, { tokens }: ModelService, loader: Loader): Run => {
  let from = 0
  return async (url, connections, request) => {
    const requests = tokens.map((token) => ({ ...request, headers: { 'x-api-key': token } }))
    const loaded = await loader.run({ url, connections, seconds: bench.seconds, requests, from })
    from += loaded.requests + loaded.shed + connections
    return loaded
  }
}

const compareCreates = async ({ bench, service, run }: Stage, queue: Queue): Promise<void> => {
  for (const callers of CALLERS) {
    const create = () => run(service.url, callers, { method: 'POST', path: '/v5/models', body: BODY })
    const insert = () => run(service.insertUrl, callers, { method: 'POST', path: '/', body: BODY })
    await bench.compare({
      name: createFigure(queue, callers),
      unit: 'ms',
      baseline: { name: 'plain INSERT and commit over HTTP', measure: async () => (await insert()).p50Ms },
      candidate: { name: 'create, deployment included', measure: async () => (await create()).p50Ms },
      goal: { atMost: 2 },
    })
  }
}

const comparePages = async ({ bench, service, run }: Stage, ids: readonly string[]): Promise<void> => {
  const page = (query: string) => run(service.url, 1, { method: 'GET', path: `/v5/models?model_vendor=openai${query}` })
  const last = ids[Math.max(0, ids.length - PAGE - 1)]!
  await bench.compare({
    name: PAGE_FIGURE,
    unit: 'ms',
    baseline: { name: 'page 1', measure: async () => (await page('')).p50Ms },
    candidate: { name: 'page 1,000', measure: async () => (await page(`&starting_after=${last}`)).p50Ms },
    goal: { atMost: 1.5 },
  })
}

const costs = async ({ bench, service, postgres, run }: Stage, ids: readonly string[]): Promise<void> => {
  const measured = { sql: postgres.sql, pids: [service.pid] }
  const create = () => run(service.url, CONNECTIONS, { method: 'POST', path: '/v5/models', body: BODY })
  const get = () => run(service.url, CONNECTIONS, { method: 'GET', path: `/v5/models/${ids[0]}` })
  await bench.cost('create a model', measured, async () => (await create()).requests)
  const cost = await bench.cost('GET a model', measured, async () => (await get()).requests)
  // Now and then the service asks something of its own.
  const queries = Math.round(cost?.queries ?? Number.NaN)
  if (cost !== null) bench.value({ name: 'queries of a GET', unit: 'query', goal: { atMost: 1 }, values: [queries] })
}

/** A service with its queue in Redis, as in production, or in Postgres, on a Postgres of its own. */
const onService = async (bench: Bench, queue: Queue, work: (stage: Stage, ids: string[]) => Promise<void>) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'keelson-bench-'))
  await using redis = queue === 'redis' ? await supervisedRedis(directory.path) : null
  await using postgres = await startBenchPostgres()
  const redisUrl = redis === null ? '' : `redis://127.0.0.1:${redis.port}`
  using service: ModelService = await startProcess(new URL('service.ts', import.meta.url), [postgres.url, redisUrl])
  using loader = startLoader()
  // Laid out and analysed first: Postgres plans for an empty table as if it were to stay so.
  const ids = await layOutModels(postgres.sql, service, bench.size(LISTED))
  await work({ bench, service, postgres, run: numberedLoads(bench, service, loader) }, ids)
}

/** What the models of an API cost: a create against a handler that only inserts and commits, a deep page against the first. */
export const models: Suite = {
  title: 'Models',
  run: async (bench) => {
    await workerFigures(bench)
    await histories(bench)
    const others = [PAGE_FIGURE, 'cost', 'create a model', 'GET a model', 'queries of a GET']
    if (bench.isWanted(...createFigures('redis'), ...others)) {
      await onService(bench, 'redis', async (stage, ids) => {
        await compareCreates(stage, 'redis')
        await comparePages(stage, ids)
        await costs(stage, ids)
      })
    }
    if (!bench.isWanted(...createFigures('postgres'))) return
    await onService(bench, 'postgres', (stage) => compareCreates(stage, 'postgres'))
  },
}
