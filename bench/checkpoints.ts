import { fork } from 'node:child_process'
import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { DeltaSnapshot, emptyCheckpoint, uuid6, type BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { delayedProxy } from './checkpoints/delayed-proxy.ts'
import { fixture, type Store } from './checkpoints/fixture.ts'
import { measure, median } from './checkpoints/measure.ts'

// Compares the saver of @keelson/langgraph-checkpoint with the one that talks to Postgres directly, on one database:
//   DATABASE_URL=postgres://… node bench/checkpoints.ts [rounds]

const ROUNDS = Number(process.argv[2] ?? 5)
const CELL_MS = Number(process.env['CELL_MS'] ?? 1000)
const ONLY = process.env['ONLY'] ?? ''
const THREADS = 16
const DEPTH = 12
const DELTA_DEPTH = 100

const url = process.env['DATABASE_URL']
if (url === undefined) throw new Error('DATABASE_URL is not set')

type Service = { baseUrl: string; apiKey: string }
type Goal = { ratio: number; atMost?: true }
type Cell = { name: string; goal: Goal; run: (store: Store, round: number) => Promise<number> }

const startService = () =>
  new Promise<Service & Disposable>((resolve, reject) => {
    const child = fork(new URL('checkpoints/service.ts', import.meta.url))
    child.once('message', (message) => resolve({ ...(message as Service), [Symbol.dispose]: () => void child.kill() }))
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })

const threadConfig = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: '' } })

const seed = async ({ name, saver }: Store, bytes: number) => {
  for (let thread = 0; thread < THREADS; thread += 1) {
    const writer = fixture(bytes).writer(saver, `${name}-seed-${bytes}-${thread}`)
    for (let step = 0; step < DEPTH; step += 1) {
      await writer.put(step === 0)
      await writer.putWrites('task')
    }
  }
}

const drain = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
}

const cellsOf = (
  bytes: number,
  clients: number,
  goals: Record<'put' | 'getTuple' | 'putWrites' | 'list', number>,
): Cell[] => {
  const { writer } = fixture(bytes)
  const size = bytes > 10_000 ? '256 KB' : '2 KB'
  const seeded = ({ name }: Store, index: number) => threadConfig(`${name}-seed-${bytes}-${index % THREADS}`)
  let task = 0
  const cell = (
    name: keyof typeof goals,
    operation: (store: Store, round: number) => (client: number) => Promise<unknown>,
  ): Cell => ({
    name: `${size}, ${clients} client${clients > 1 ? 's' : ''}: ${name}`,
    goal: { ratio: goals[name] },
    run: (store, round) => measure(clients, operation(store, round), CELL_MS),
  })
  const writersOf = ({ name, saver }: Store, kind: string, round: number) =>
    Array.from({ length: clients }, (_, client) =>
      writer(saver, `${name}-${kind}-${bytes}-${clients}-${round}-${client}`),
    )
  return [
    cell('put', (store, round) => {
      const writers = writersOf(store, 'put', round)
      return (client) => writers[client]!.put()
    }),
    cell(
      'getTuple',
      ({ name, saver }) =>
        (client) =>
          saver.getTuple(seeded({ name, saver }, client + (task += 1))),
    ),
    cell('putWrites', (store, round) => {
      const writers = writersOf(store, 'writes', round)
      const first = writers.map((one) => one.put())
      return async (client) => {
        await first[client]
        await writers[client]!.putWrites(`task-${(task += 1)}`)
      }
    }),
    cell(
      'list',
      ({ name, saver }) =>
        (client) =>
          drain(saver.list(seeded({ name, saver }, client + (task += 1)), { limit: 10 })),
    ),
  ]
}

/** A chain of checkpoints with a delta each, and one snapshot at its root. */
const seedDeltas = async (saver: BaseCheckpointSaver): Promise<void> => {
  let config: Awaited<ReturnType<BaseCheckpointSaver['put']>> = threadConfig('deltas')
  for (let depth = 0; depth <= DELTA_DEPTH; depth += 1) {
    const versions = { messages: String(depth).padStart(8, '0') } as never
    const channel_values = depth === 0 ? { messages: new DeltaSnapshot(['root']) } : {}
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(depth), channel_values, channel_versions: versions }
    config = await saver.put(config, checkpoint, { source: 'loop', step: depth, parents: {} }, versions)
    if (depth < DELTA_DEPTH) await saver.putWrites(config, [['messages', [`delta ${depth}`]]], 'task')
  }
}

const deltaCell: Cell = {
  name: `delta history of ${DELTA_DEPTH} ancestors (time)`,
  goal: { ratio: 0.15, atMost: true },
  run: async ({ saver }) => {
    const options = { config: threadConfig('deltas'), channels: ['messages'] }
    return 1000 / (await measure(1, () => saver.getDeltaChannelHistory(options), CELL_MS))
  },
}

const runRounds = async (cells: Cell[], stores: Store[]): Promise<boolean> => {
  const ratios = new Map(cells.map((cell) => [cell, [] as number[]]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const cell of cells) {
      const results = { pg: 0, keelson: 0 }
      for (const store of round % 2 === 0 ? stores : stores.toReversed())
        results[store.name] = await cell.run(store, round)
      ratios.get(cell)!.push(results.keelson / results.pg)
      process.stdout.write(
        `round ${round + 1} ${cell.name}: ${results.pg.toFixed(1)} pg, ${results.keelson.toFixed(1)} keelson\n`,
      )
    }
  }
  let isMet = true
  for (const [{ name, goal }, values] of ratios) {
    const ratio = median(values)
    const isGood = goal.atMost ? ratio <= goal.ratio : ratio >= goal.ratio
    isMet &&= isGood
    const range = `${Math.min(...values).toFixed(2)}-${Math.max(...values).toFixed(2)}`
    process.stdout.write(
      `${isGood ? 'ok  ' : 'MISS'} ${name}: ${ratio.toFixed(2)}x (${range}), wanted ${goal.atMost ? '<=' : '>='} ${goal.ratio}x\n`,
    )
  }
  return isMet
}

const { Pool } = (await import('pg')).default
const poolOf = (connectionString: string) => new Pool({ connectionString, max: THREADS })

using service = await startService()
const pool = poolOf(url)
const direct = new PostgresSaver(pool)
await direct.setup()
const stores: Store[] = [
  { name: 'pg', saver: direct },
  { name: 'keelson', saver: new KeelsonSaver(service) },
]
for (const { saver } of stores) await seedDeltas(saver)
for (const bytes of [2_000, 262_000]) for (const store of stores) await seed(store, bytes)
await pool.query('vacuum analyze')

const cells = [
  ...cellsOf(262_000, 1, { put: 1.3, getTuple: 6, putWrites: 1.2, list: 9 }),
  ...cellsOf(262_000, 16, { put: 1.3, getTuple: 6, putWrites: 1.2, list: 9 }),
  ...cellsOf(2_000, 16, { put: 1.2, getTuple: 1.3, putWrites: 1, list: 2.5 }),
  ...cellsOf(2_000, 1, { put: 0.8, getTuple: 1.2, putWrites: 0, list: 0 }),
  deltaCell,
].filter(({ name }) => name.includes(ONLY))
let isMet = await runRounds(cells, stores)

// The same with a network of 1 ms each way between the agent and what it talks to.
const farFrom = async (target: string) => {
  const proxy = await delayedProxy(Number(new URL(target).port), 1)
  return { proxy, url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(proxy.port) }).href }
}
const [farPg, farService] = await Promise.all([farFrom(url), farFrom(service.baseUrl)])
const farPool = poolOf(farPg.url)
const farStores: Store[] = [
  { name: 'pg', saver: new PostgresSaver(farPool) },
  { name: 'keelson', saver: new KeelsonSaver({ ...service, baseUrl: farService.url }) },
]
const [farPut] = cellsOf(2_000, 1, { put: 3, getTuple: 0, putWrites: 0, list: 0 })
isMet = (await runRounds([{ ...farPut!, name: 'put of 4 blobs, 1 ms each way' }], farStores)) && isMet
process.exit(isMet ? 0 : 1)
