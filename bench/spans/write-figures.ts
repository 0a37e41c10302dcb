import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@keelson/database'
import type { Request } from '../harness/load-process.ts'
import { loadOf, textOf, type SpanService, type Stage } from './stage.ts'

const PATCHED = 20_000
const BATCH = 50

/** About 1 KB, in OpenTelemetry's words. */
const FACTS = `"name":"chat gpt-4o","trace_id":"trace-{n}","parent_id":"parent-{n}","start_time":"2026-11-21T09:30:00.123456Z","input":{"gen_ai.input.messages":[{"role":"user","content":"${textOf(420)}"}]},"output":{"gen_ai.output.messages":[{"role":"assistant","content":"${textOf(220)}"}]},"data":{"gen_ai.operation.name":"chat","gen_ai.request.model":"gpt-4o","gen_ai.usage.input_tokens":95}`
const SPAN = `{${FACTS},"end_time":"2026-11-21T09:30:01.5Z"}`
const BATCH_BODY = `{"spans":[${Array.from({ length: BATCH }, () => SPAN).join(',')}]}`
const PATCH_BODY = `{"end_time":"2026-11-21T09:30:02Z","output":{"gen_ai.output.messages":[{"role":"assistant","content":"${textOf(220)}"}]}}`

const CREATE: Request = { method: 'POST', path: '/spans', body: SPAN }
const CREATE_BATCH: Request = { method: 'POST', path: '/spans/batch', body: BATCH_BODY }
const PATCH: Request = { method: 'PATCH', path: '/spans/patched-{n}', body: PATCH_BODY }

/** How many times as long as a measurement: engines compile what they see often, and a fresh process is half as fast for its first ten seconds. */
const WARM_UP_TIMES = 6

/** Has spans written until both services are as fast as they get. */
export const warmUp = async (stage: Stage): Promise<void> => {
  const seconds = stage.bench.seconds * WARM_UP_TIMES
  for (const service of [stage.single, stage.group])
    await stage.loader.run({ ...loadOf(stage, service, CREATE, 32), seconds })
}

const creating = (stage: Stage, service: SpanService, connections: number) => async () =>
  stage.loader.run(loadOf(stage, service, CREATE, connections))

const variants = (stage: Stage, connections: number, field: 'perSecond' | 'p50Ms') => {
  const [single, group] = [stage.single, stage.group].map((service) => creating(stage, service, connections))
  return {
    baseline: { name: 'one INSERT per request', measure: async () => (await single!())[field] },
    candidate: { name: 'group commit', measure: async () => (await group!())[field] },
  }
}

export const throughput = (stage: Stage, connections: number, atLeast: number) =>
  stage.bench.compare({
    name: `POST /spans, ${connections} connections${stage.name}`,
    unit: 'spans/s',
    ...variants(stage, connections, 'perSecond'),
    goal: { atLeast },
  })

export const latency = (stage: Stage) =>
  stage.bench.compare({
    name: `POST /spans, 1 connection, p50${stage.name}`,
    unit: 'ms',
    ...variants(stage, 1, 'p50Ms'),
    goal: { atMost: 1.1 },
  })

export const batches = (stage: Stage) =>
  stage.bench.compare({
    name: `POST /spans/batch of ${BATCH}, 16 connections${stage.name}`,
    unit: 'spans/s',
    baseline: variants(stage, 32, 'perSecond').baseline,
    candidate: {
      name: 'batches',
      measure: async () => (await stage.loader.run(loadOf(stage, stage.group, CREATE_BATCH, 16))).perSecond * BATCH,
    },
    goal: { atLeast: 3.5 },
  })

/** Fresh unfinished spans: a span is completed once, by and large. */
const layOut = async ({ db, bench }: Stage, { account_id }: SpanService): Promise<number> => {
  const count = bench.size(PATCHED)
  await db.sql`delete from agent.spans where account_id = ${account_id} and trace_id = 'patched'`
  await db.sql`
    insert into agent.spans (account_id, id, trace_id, name, start_time, input, data)
    select ${account_id}, 'patched-' || n, 'patched', 'chat gpt-4o', timestamptz '2026-01-01' + n * interval '1 ms',
      ${`{"text":"${textOf(500)}"}`}, '{"gen_ai.operation.name":"chat"}'
    from generate_series(0, ${count - 1}::int) as n`
  await db.sql`vacuum agent.spans`
  return count
}

/** The updates so far; backends tell theirs a second after they are done. */
const updates = async ({ sql }: Database) => {
  await delay(1200)
  const [row] = await sql<[{ all: number; hot: number }]>`
    select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where schemaname = 'agent' and relname = 'spans'`
  return row
}

export const patches = async (stage: Stage) => {
  const names = { rate: 'PATCH /spans/{id}, 32 connections', share: 'share of patches that are heap-only' }
  if (!stage.bench.isWanted(names.rate, names.share)) return
  const shares: number[] = []
  const patched = async (service: SpanService) => {
    const count = await layOut(stage, service)
    return (await stage.loader.run(loadOf(stage, service, PATCH, 32, { count }))).perSecond
  }
  const patchedInGroups = async () => {
    const before = await updates(stage.db)
    const perSecond = await patched(stage.group)
    const after = await updates(stage.db)
    shares.push((after.hot - before.hot) / (after.all - before.all))
    return perSecond
  }
  await stage.bench.compare({
    name: names.rate,
    unit: 'patches/s',
    baseline: { name: 'read, modify, write', measure: () => patched(stage.single) },
    candidate: { name: 'one statement for many', measure: patchedInGroups },
    goal: { atLeast: 2 },
  })
  stage.bench.value({ name: names.share, unit: 'of all', goal: { atLeast: 0.5 }, values: shares })
}

export const writeCosts = async (stage: Stage) => {
  const { bench, loader, db } = stage
  const cost = (name: string, service: SpanService, request: Request) =>
    bench.cost(name, { sql: db.sql, pids: [service.pid] }, async () => {
      const count = request === PATCH ? { count: bench.size(PATCHED) } : {}
      return (await loader.run(loadOf(stage, service, request, 32, count))).requests
    })
  await cost('POST /spans, one INSERT per request', stage.single, CREATE)
  await cost('POST /spans', stage.group, CREATE)
  await cost(`POST /spans/batch of ${BATCH}`, stage.group, CREATE_BATCH)
  await layOut(stage, stage.single)
  await cost('PATCH /spans/{id}, read-modify-write', stage.single, PATCH)
  await layOut(stage, stage.group)
  await cost('PATCH /spans/{id}', stage.group, PATCH)
}
