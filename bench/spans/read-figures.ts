import type { Request } from '../harness/load-process.ts'
import { loadOf, textOf, type Stage } from './stage.ts'

const DEEP = 1_000_000
const TRACE = 30_000

const fill = async ({ db, group: { account_id }, bench }: Stage) => {
  const input = `{"text":"${textOf(200)}"}`
  await db.sql`
    insert into agent.spans (account_id, id, trace_id, parent_id, name, start_time, end_time, input)
    select ${account_id}, 'deep-' || to_char(n, 'FM0000000'), 'deep-' || n / 100, 'deep-0', 'step',
      timestamptz '2020-01-01' + n * interval '1 s', timestamptz '2020-01-01' + (n + 1) * interval '1 s', ${input}
    from generate_series(0, ${bench.size(DEEP) + 1000}::int) as n`
  await db.sql`
    insert into agent.spans (account_id, id, trace_id, parent_id, name, start_time, end_time, input)
    select ${account_id}, 'tree-' || n, 'tree', 'tree-' || n / 10, 'step', timestamptz '2019-01-01' + n * interval '1 s',
      '2020-01-01', ${input}
    from generate_series(1, ${bench.size(TRACE)}::int) as n`
  await db.sql`vacuum analyze agent.spans`
}

const get = (path: string): Request => ({ method: 'GET', path })

export const reads = async (stage: Stage) => {
  const { bench, group, loader, db } = stage
  const names = {
    page: 'reads: keyset page a million spans deep, p50',
    get: 'reads: GET /spans/{id}, p50',
    trace: 'reads: trace skeleton of 30,000 spans, p50',
  }
  if (!bench.isWanted('cost', ...Object.values(names))) return
  await fill(stage)
  const numbers = { from: 1, count: bench.size(TRACE) }
  const p50 = (path: string) => async () => (await loader.run(loadOf(stage, group, get(path), 1, numbers))).p50Ms
  const page = '/spans?order_direction=asc&limit=50'
  const deepPage = `${page}&starting_after=deep-${String(bench.size(DEEP)).padStart(7, '0')}`
  await bench.compare({
    name: names.page,
    unit: 'ms',
    baseline: { name: 'first page', measure: p50(page) },
    candidate: { name: 'deep page', measure: p50(deepPage) },
    goal: { atMost: 1.3 },
  })
  await bench.compare({
    name: names.get,
    unit: 'ms',
    baseline: { name: 'bare SELECT', measure: p50('/bare/tree-{n}') },
    candidate: { name: 'GET by id', measure: p50('/spans/tree-{n}') },
    goal: { atMost: 1.3 },
  })
  await bench.measure({ name: names.trace, unit: 'ms', goal: { atMost: 300 }, measure: p50('/traces/tree') })
  const paths = {
    'GET /spans/{id}': '/spans/tree-{n}',
    'GET /spans, page of 50': page,
    'GET /traces/{id}': '/traces/tree',
  }
  for (const [name, path] of Object.entries(paths)) {
    const load = loadOf(stage, group, get(path), 4, numbers)
    await bench.cost(name, { sql: db.sql, pids: [group.pid] }, async () => (await loader.run(load)).requests)
  }
}
