import { connect, type Database } from '@keelson/database'
import { compare, measure, valueFigure, writeReport, type Figure } from './harness.ts'
import { startBenchPostgres } from './spans/postgres.ts'
import { startBenchService, startLoader, type BenchService, type Loader } from './spans/processes.ts'
import type { Load } from './spans/load-process.ts'

// What spans cost, against a service that writes one statement for each request, in one run:
//   pnpm bench [--only TEXT] [--rounds 5] [--seconds 3]

const option = (name: string, fallback: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : (process.argv[at + 1] ?? fallback)
}
const ROUNDS = Number(option('rounds', '5'))
const SECONDS = Number(option('seconds', '3'))
const ONLY = option('only', '')
const DEEP = 1_000_000
const PATCHED = 20_000
const TRACE = 30_000

const text = (length: number) => 'All work and no play makes a dull benchmark. '.repeat(30).slice(0, length)
/** About 1 KB, in OpenTelemetry's words. */
const facts = `"name":"chat gpt-4o","trace_id":"trace-{n}","parent_id":"parent-{n}","start_time":"2026-11-21T09:30:00.123456Z","input":{"gen_ai.input.messages":[{"role":"user","content":"${text(420)}"}]},"output":{"gen_ai.output.messages":[{"role":"assistant","content":"${text(220)}"}]},"data":{"gen_ai.operation.name":"chat","gen_ai.request.model":"gpt-4o","gen_ai.usage.input_tokens":95}`
const SPAN = `{${facts},"end_time":"2026-11-21T09:30:01.5Z"}`
const BATCH = `{"spans":[${Array.from({ length: 50 }, () => SPAN).join(',')}]}`
const PATCH = `{"end_time":"2026-11-21T09:30:02Z","output":{"gen_ai.output.messages":[{"role":"assistant","content":"${text(220)}"}]}}`

type Stage = { group: BenchService; single: BenchService; loader: Loader; db: Database; name: string }

const figures: Figure[] = []
const isWanted = (name: string) => name.includes(ONLY)

const post = (body: string, path = '/spans') => ({ method: 'POST', path, body, seconds: SECONDS })

const throughput = async (stage: Stage, connections: number, atLeast: number) => {
  const name = `POST /spans, ${connections} connections${stage.name}`
  if (!isWanted(name)) return
  const variant = (service: BenchService, label: string) => ({
    name: label,
    measure: async () => (await stage.loader.run({ ...service, ...post(SPAN), connections })).perSecond,
  })
  const [baseline, candidate] = [variant(stage.single, 'one INSERT per request'), variant(stage.group, 'group commit')]
  figures.push(await compare({ name, unit: 'spans/s', baseline, candidate, goal: { atLeast } }, ROUNDS))
}

const latency = async (stage: Stage) => {
  const name = `POST /spans, 1 connection, p50${stage.name}`
  if (!isWanted(name)) return
  const variant = (service: BenchService, label: string) => ({
    name: label,
    measure: async () => (await stage.loader.run({ ...service, ...post(SPAN), connections: 1 })).p50Ms,
  })
  const [baseline, candidate] = [variant(stage.single, 'one INSERT per request'), variant(stage.group, 'group commit')]
  figures.push(await compare({ name, unit: 'ms', baseline, candidate, goal: { atMost: 1.1 } }, ROUNDS))
}

const batches = async (stage: Stage) => {
  const name = `POST /spans/batch of 50, 16 connections${stage.name}`
  if (!isWanted(name)) return
  const baseline = {
    name: 'one INSERT per request',
    measure: async () => (await stage.loader.run({ ...stage.single, ...post(SPAN), connections: 32 })).perSecond,
  }
  const load = { ...stage.group, ...post(BATCH, '/spans/batch'), connections: 16 }
  const candidate = { name: 'batches', measure: async () => (await stage.loader.run(load)).perSecond * 50 }
  figures.push(await compare({ name, unit: 'spans/s', baseline, candidate, goal: { atLeast: 3.5 } }, ROUNDS))
}

const running = (db: Database, account_id: string) => db.sql`
  insert into agent.spans (account_id, id, trace_id, name, start_time, input, data)
  select ${account_id}, 'patched-' || n, 'patched', 'chat gpt-4o', timestamptz '2026-01-01' + n * interval '1 ms',
    ${`{"text":"${text(500)}"}`}, '{"gen_ai.operation.name":"chat"}'
  from generate_series(0, ${PATCHED - 1}::int) as n
  on conflict (account_id, id) do update set end_time = null, output = null`

const updates = async ({ sql }: Database) => {
  await sql`select pg_stat_force_next_flush()`.catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const [row] = await sql<[{ all: number; hot: number }]>`
    select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where schemaname = 'agent' and relname = 'spans'`
  return row
}

const patches = async (stage: Stage) => {
  const name = `PATCH /spans/{id}, 32 connections${stage.name}`
  if (!isWanted(name)) return
  const shares: number[] = []
  const patch = {
    method: 'PATCH',
    path: '/spans/patched-{n}',
    body: PATCH,
    seconds: SECONDS,
    connections: 32,
    count: PATCHED,
  }
  const measureOn = async (service: BenchService) => {
    // A span is completed once, by and large; fresh rows, so that every round finds the same table.
    await stage.db.sql`delete from agent.spans where account_id = ${service.account_id} and trace_id = 'patched'`
    await running(stage.db, service.account_id)
    await stage.db.sql`vacuum agent.spans`
    const before = await updates(stage.db)
    const { perSecond } = await stage.loader.run({ ...service, ...patch })
    const after = await updates(stage.db)
    if (service === stage.group) shares.push((after.hot - before.hot) / (after.all - before.all))
    return perSecond
  }
  const baseline = { name: 'read, modify, write', measure: () => measureOn(stage.single) }
  const candidate = { name: 'one statement for many', measure: () => measureOn(stage.group) }
  figures.push(await compare({ name, unit: 'patches/s', baseline, candidate, goal: { atLeast: 2 } }, ROUNDS))
  figures.push(
    valueFigure({
      name: 'share of patches that are heap-only',
      unit: 'of all',
      goal: { atLeast: 0.5 },
      values: shares,
    }),
  )
}

const fill = async ({ db, group: { account_id } }: Stage) => {
  const input = `{"text":"${text(200)}"}`
  await db.sql`
    insert into agent.spans (account_id, id, trace_id, parent_id, name, start_time, end_time, input)
    select ${account_id}, 'deep-' || to_char(n, 'FM0000000'), 'deep-' || n / 100, 'deep-0', 'step',
      timestamptz '2020-01-01' + n * interval '1 s', timestamptz '2020-01-01' + (n + 1) * interval '1 s', ${input}
    from generate_series(0, ${DEEP + 1000}::int) as n`
  await db.sql`
    insert into agent.spans (account_id, id, trace_id, parent_id, name, start_time, end_time, input)
    select ${account_id}, 'tree-' || n, 'tree', 'tree-' || n / 10, 'step', timestamptz '2019-01-01' + n * interval '1 s',
      '2020-01-01', ${input}
    from generate_series(1, ${TRACE}::int) as n`
  await db.sql`vacuum analyze agent.spans`
}

const reads = async (stage: Stage) => {
  if (!isWanted('reads')) return
  const { group, loader } = stage
  await fill(stage)
  const p50 =
    (path: string, more: Partial<Load> = {}) =>
    async () =>
      (await loader.run({ ...group, method: 'GET', path, seconds: SECONDS, connections: 1, ...more })).p50Ms
  const order = '/spans?order_direction=asc&limit=50'
  const first = { name: 'first page', measure: p50(order) }
  const deep = { name: 'deep page', measure: p50(`${order}&starting_after=deep-${DEEP}`) }
  figures.push(
    await compare(
      {
        name: 'reads: keyset page a million spans deep, p50',
        unit: 'ms',
        baseline: first,
        candidate: deep,
        goal: { atMost: 1.3 },
      },
      ROUNDS,
    ),
  )
  const many = { count: DEEP }
  const padded = (path: string) => p50(`${path}/tree-{n}`, { ...many, from: 1, count: TRACE })
  const bare = { name: 'bare SELECT', measure: padded('/bare') }
  const get = { name: 'GET by id', measure: padded('/spans') }
  figures.push(
    await compare(
      { name: 'reads: GET /spans/{id}, p50', unit: 'ms', baseline: bare, candidate: get, goal: { atMost: 1.3 } },
      ROUNDS,
    ),
  )
  figures.push(
    await measure(
      {
        name: `reads: trace skeleton of ${TRACE} spans, p50`,
        unit: 'ms',
        goal: { atMost: 300 },
        measure: p50('/traces/tree'),
      },
      ROUNDS,
    ),
  )
}

const onPostgres = async (name: string, slowFsyncUs: number | undefined, work: (stage: Stage) => Promise<void>) => {
  await using server = await startBenchPostgres(slowFsyncUs === undefined ? {} : { slowFsyncUs })
  process.stdout.write(`Postgres ${server.version}${name}\n`)
  await using db = connect({ url: server.url, applicationName: 'bench', statementTimeoutMs: 600_000 })
  using group = await startBenchService(server.url, 'group')
  using single = await startBenchService(server.url, 'single')
  using loader = startLoader()
  await work({ group, single, loader, db, name })
}

await onPostgres('', undefined, async (stage) => {
  await latency(stage)
  await throughput(stage, 32, 1.3)
  await throughput(stage, 256, 1.6)
  await batches(stage)
  await patches(stage)
  await reads(stage)
})
await onPostgres(', fsync 1 ms slower', 1000, async (stage) => {
  await throughput(stage, 32, 2)
  await throughput(stage, 256, 3.5)
  await batches(stage)
})
await writeReport('bench/results/spans', 'Spans', figures)
process.exit(figures.every(({ isMet }) => isMet) ? 0 : 1)
