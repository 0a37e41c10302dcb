import { fork } from 'node:child_process'
import { once } from 'node:events'
import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import pg from 'pg'
import { comparisons, type Stores } from './checkpoints/cells.ts'
import { delayedProxy } from './checkpoints/delayed-proxy.ts'
import type { Store } from './checkpoints/fixture.ts'
import { rateOf } from './checkpoints/rate.ts'
import { deltaThread, seed, seedDeltas } from './checkpoints/seed.ts'
import { compare, writeReport, type Comparison, type Figure } from './harness.ts'
import { startBenchPostgres } from './spans/postgres.ts'

// What checkpoints cost over HTTP, against the saver that talks to the same Postgres directly:
//   node bench/checkpoints.ts [--only TEXT] [--rounds 5] [--seconds 1]

const option = (name: string, fallback: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : (process.argv[at + 1] ?? fallback)
}
const ONLY = option('only', '')
const ROUNDS = Number(option('rounds', '5'))
const seconds = Number(option('seconds', '1'))
const [LARGE, SMALL] = [262_000, 2_000]
const CLIENTS = 16
const ANCESTORS = 100

type Service = { baseUrl: string; apiKey: string }

const startService = async (databaseUrl: string): Promise<Service & Disposable> => {
  const child = fork(new URL('checkpoints/service.ts', import.meta.url), [databaseUrl])
  const [told] = (await once(child, 'message')) as [Service]
  return { ...told, [Symbol.dispose]: () => void child.kill() }
}

const storesOf = (databaseUrl: string, service: Service): Stores => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CLIENTS })
  // At the end Postgres goes before its clients.
  pool.on('error', () => {})
  return {
    direct: { name: 'direct', saver: new PostgresSaver(pool) },
    keelson: { name: 'keelson', saver: new KeelsonSaver(service) },
  }
}

/** The same with a network of 1 ms each way between the agent and what it talks to. */
const far = async (url: string): Promise<string> => {
  const proxy = await delayedProxy(Number(new URL(url).port), 1)
  return Object.assign(new URL(url), { port: String(proxy.port) }).href
}

const deltaHistory = ({ direct, keelson }: Stores): Comparison => {
  const time = ({ name, saver }: Store) => ({
    name,
    measure: async () => {
      const history = () => saver.getDeltaChannelHistory({ config: deltaThread, channels: ['messages'] })
      return 1000 / (await rateOf(1, history, seconds))
    },
  })
  const name = `delta history of ${ANCESTORS} ancestors`
  return { name, unit: 'ms', baseline: time(direct), candidate: time(keelson), goal: { atMost: 0.15 } }
}

const ofLarge = { put: 1.3, 'get-tuple': 6, 'put-writes': 1.2, 'list of 10': 9 }

const comparisonsOf = (near: Stores, distant: Stores): Comparison[] => [
  ...comparisons(near, { bytes: LARGE, clients: 1, seconds }, ofLarge),
  ...comparisons(near, { bytes: LARGE, clients: CLIENTS, seconds }, ofLarge),
  ...comparisons(
    near,
    { bytes: SMALL, clients: CLIENTS, seconds },
    { put: 1.2, 'get-tuple': 1.3, 'put-writes': 1, 'list of 10': 2.5 },
  ),
  ...comparisons(near, { bytes: SMALL, clients: 1, seconds }, { put: 0.8, 'get-tuple': 1.2 }),
  deltaHistory(near),
  ...comparisons(distant, { bytes: SMALL, clients: 1, seconds, place: ', 1 ms each way' }, { put: 3 }),
]

const run = async (): Promise<Figure[]> => {
  await using postgres = await startBenchPostgres()
  process.stdout.write(`Postgres ${postgres.version}\n`)
  using service = await startService(postgres.url)
  const near = storesOf(postgres.url, service)
  const distant = storesOf(await far(postgres.url), { ...service, baseUrl: await far(service.baseUrl) })
  await (near.direct.saver as PostgresSaver).setup()
  const wanted = comparisonsOf(near, distant).filter(({ name }) => name.includes(ONLY))
  const reads = (size: string) => wanted.some(({ name }) => name.startsWith(size) && /get-tuple|list/.test(name))
  for (const store of [near.direct, near.keelson]) {
    if (reads('256 KB')) await seed(store, LARGE)
    if (reads('2 KB')) await seed(store, SMALL)
    await seedDeltas(store.saver, ANCESTORS)
  }
  const figures: Figure[] = []
  for (const comparison of wanted) figures.push(await compare(comparison, ROUNDS))
  return figures
}

const figures = await run()
await writeReport('bench/results/checkpoints', 'Checkpoints', figures)
process.exit(figures.every(({ isMet }) => isMet) ? 0 : 1)
