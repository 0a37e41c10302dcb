import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import pg from 'pg'
import type { Bench, Suite } from '../harness/bench.ts'
import { peakMemoryMiB } from '../harness/peak-memory.ts'
import { startBenchPostgres, type BenchPostgres, type Sql } from '../harness/postgres.ts'
import { startProcess } from '../harness/processes.ts'
import { delayedProxy } from './delayed-proxy.ts'
import { deltaHistoryMs, seedDeltas } from './deltas.ts'
import type { Store } from './fixture.ts'
import { longestPutMs, seedFullThread, seedHeavyThread, seedLargeThread } from './large-thread.ts'
import { measureOperation, readAll, seed, threadConfig, type Operation, type Size } from './operations.ts'

const CONNECTIONS = 16
const ANCESTORS = 100
const DEPTH = 12
const SMALL: Size = { name: '2 KB', bytes: 2_000 }
const largeOf = (bench: Bench): Size => ({ name: '256 KB', bytes: bench.size(262_000) })
const DIRECT = '@langchain/langgraph-checkpoint-postgres'

type Stores = { direct: Store; ours: Store }
type Stage = { bench: Bench; stores: Stores; seconds: number }

const operation = async (stage: Stage, kind: Operation, size: Size, clients: number, atLeast: number) => {
  const { bench, stores, seconds } = stage
  const rate = (store: Store) => async () => (await measureOperation(kind, { store, size, clients, seconds })).perSecond
  await bench.compare({
    name: `${kind}, ${size.name}, ${clients} client${clients > 1 ? 's' : ''}`,
    unit: 'per s',
    baseline: { name: DIRECT, measure: rate(stores.direct) },
    candidate: { name: 'over HTTP', measure: rate(stores.ours) },
    goal: { atLeast },
  })
}

const operations = async (stage: Stage) => {
  const large = largeOf(stage.bench)
  for (const clients of [1, 16]) {
    await operation(stage, 'put', large, clients, 1.3)
    await operation(stage, 'get-tuple', large, clients, 6)
    await operation(stage, 'put-writes', large, clients, 1.2)
    await operation(stage, 'list', large, clients, 9)
  }
  await operation(stage, 'put', SMALL, 16, 1.2)
  await operation(stage, 'get-tuple', SMALL, 16, 1.3)
  await operation(stage, 'put-writes', SMALL, 16, 1)
  await operation(stage, 'list', SMALL, 16, 2.5)
  await operation(stage, 'put', SMALL, 1, 0.8)
  await operation(stage, 'get-tuple', SMALL, 1, 1.2)
}

const deltas = ({ bench, stores, seconds }: Stage) =>
  bench.compare({
    name: 'delta history of 100 ancestors',
    unit: 'ms',
    baseline: { name: DIRECT, measure: () => deltaHistoryMs(stores.direct.saver, seconds) },
    candidate: { name: 'over HTTP', measure: () => deltaHistoryMs(stores.ours.saver, seconds) },
    goal: { atMost: 0.15 },
  })

/** To wait for, since `end` does not: a connection that Postgres closes first, when it stops, is an error. */
const allClosed = (pool: pg.Pool): Promise<void> =>
  new Promise((resolve) => {
    let open = pool.totalCount
    if (open === 0) resolve()
    pool.on('remove', () => {
      open -= 1
      if (open === 0) resolve()
    })
  })

const poolOf = (connectionString: string) => {
  const pool = new pg.Pool({ connectionString, max: CONNECTIONS })
  const close = async () => void (await Promise.all([allClosed(pool), pool.end()]))
  return { pool, [Symbol.asyncDispose]: close }
}

const SERVICE = new URL('service.ts', import.meta.url)

type Service = { baseUrl: string; apiKey: string; account_id: string }

/** The same with a network of 1 ms each way between the agent and what it talks to. */
const withNetwork = async (bench: Bench, databaseUrl: string, service: Service, seconds: number) => {
  const name = 'put of 4 blobs, 1 ms of network each way'
  if (!bench.isWanted(name)) return
  await using stack = new AsyncDisposableStack()
  const farFrom = async (target: string): Promise<string> => {
    const { port } = stack.use(await delayedProxy(Number(new URL(target).port), 1))
    return Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href
  }
  const { pool } = stack.use(poolOf(await farFrom(databaseUrl)))
  const baseUrl = await farFrom(service.baseUrl)
  const direct: Store = { name: 'direct', saver: new PostgresSaver(pool) }
  const ours: Store = { name: 'keelson', saver: new KeelsonSaver({ ...service, baseUrl }) }
  const rate = (store: Store) => async () =>
    (await measureOperation('put', { store, size: SMALL, clients: 1, seconds })).perSecond
  await bench.compare({
    name,
    unit: 'per s',
    baseline: { name: DIRECT, measure: rate(direct) },
    candidate: { name: 'over HTTP', measure: rate(ours) },
    goal: { atLeast: 3 },
  })
}

/** While a large thread is pruned or deleted, nobody who puts to it waits long. */
const locks = async (bench: Bench, sql: Sql, { baseUrl, apiKey, account_id }: Service) => {
  const client = createClient(agentRoutes, { baseUrl, headers: { authorization: `Bearer ${apiKey}` } })
  const stage = { sql, account_id, saver: new KeelsonSaver({ baseUrl, apiKey }), checkpoints: bench.size(5000) }
  const prune = (id: string) => client.pruneCheckpoints({ body: { thread_ids: [id], keep_last: 10 } })
  const remove = (thread_id: string) => client.deleteThread({ body: { thread_id } })
  const works = [
    { name: 'thread of 5,000 is pruned', lay: seedLargeThread, work: prune },
    { name: 'thread of 5,000 is deleted', lay: seedLargeThread, work: remove },
    { name: 'thread of 5,000 with 32 KB of text each is deleted', lay: seedHeavyThread, work: remove },
  ]
  for (const { name, lay, work } of works)
    await bench.measure({
      name: `longest wait of a put while its ${name}`,
      unit: 'ms',
      goal: { atMost: 100 },
      measure: async (round) => {
        const thread_id = `${name}-${round}`
        await lay(stage, thread_id)
        return longestPutMs(stage.saver, thread_id, work)
      },
    })
}

/** Whatever a thread weighs, the service holds no more of it than a page: one that holds nothing of other work yet. */
const memory = async (bench: Bench, { url, sql }: BenchPostgres) => {
  const name = 'peak memory of agent-api while 5,000 full tuples of 64 KB are listed'
  if (!bench.isWanted(name)) return
  using service = await startProcess<Service>(SERVICE, [url])
  const saver = new KeelsonSaver(service)
  const { account_id, pid } = service
  await seedFullThread({ sql, account_id, saver, checkpoints: bench.size(5000) }, 'full')
  const peak = await peakMemoryMiB(pid, () => readAll(saver.list(threadConfig('full'))))
  saver.close()
  if (peak !== null) bench.value({ name, unit: 'MiB', goal: { atMost: 400 }, values: [peak] })
}

/** What checkpoints cost over HTTP, against the saver that talks to the same Postgres directly. */
export const checkpoints: Suite = {
  title: 'Checkpoints',
  run: async (bench) => {
    await using postgres = await startBenchPostgres()
    const { url, sql } = postgres
    using service = await startProcess<Service>(SERVICE, [url])
    await using direct = poolOf(url)
    const saver = new PostgresSaver(direct.pool)
    await saver.setup()
    const stores: Stores = {
      direct: { name: 'direct', saver },
      ours: { name: 'keelson', saver: new KeelsonSaver(service) },
    }
    for (const store of [stores.direct, stores.ours]) {
      await seedDeltas(store.saver, bench.size(ANCESTORS))
      for (const size of [SMALL, largeOf(bench)]) await seed(store, size, bench.size(DEPTH))
    }
    await sql`vacuum analyze`
    const stage = { bench, stores, seconds: bench.seconds / 2 }
    await operations(stage)
    await deltas(stage)
    await withNetwork(bench, url, service, stage.seconds)
    await locks(bench, sql, service)
    await memory(bench, postgres)
    const call = { size: SMALL, clients: CONNECTIONS, seconds: stage.seconds }
    for (const kind of ['put', 'get-tuple', 'put-writes', 'list'] as const) {
      // The client does a saver's work here, and a part of it there: it counts on both sides.
      const pids = { direct: [process.pid], ours: [process.pid, service.pid] }
      for (const side of ['direct', 'ours'] as const) {
        const name = `${kind}, 2 KB, client included, ${side === 'ours' ? 'over HTTP' : 'direct saver'}`
        const work = async () => (await measureOperation(kind, { ...call, store: stores[side] })).count
        await bench.cost(name, { sql, pids: pids[side] }, work)
      }
    }
  },
}
