import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { connect, type Database } from '@keelson/database'
import { createLogger } from '@keelson/service-kit'
import { eventually } from '@keelson/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { retainSpans, scheduleRetention } from './retain-spans.ts'

const DAY_MS = 86_400_000
const COMMAND = new URL('retain-spans-command.ts', import.meta.url).pathname

let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => app.db.sql`truncate agent.spans`)

/** Spans recorded that many days ago, or from then on, `apartMs` after each other. */
const recorded = (count: number, days: number, apartMs = 0) => app.db.sql`
  insert into agent.spans (account_id, id, trace_id, name, start_time, created_at)
  select 'account', ${`${days} days ago `} || n, 'trace', 'step', now(), now() - ${days}::int * interval '1 day' + n * ${apartMs}::int * interval '1 ms'
  from generate_series(1, ${count}::int) as n`

const left = async () => {
  const rows = await app.db.sql<{ days: string; count: number }[]>`
    select split_part(id, ' ', 1) as days, count(*)::int as count from agent.spans group by 1 order by 1`
  return Object.fromEntries(rows.map(({ days, count }) => [days, count]))
}

/** How many spans each statement deletes from now on. */
const watchDeletes = async () => {
  await app.db.sql.unsafe(`
    create table deletes (count int);
    create function note_delete() returns trigger language plpgsql as
      $$ begin insert into deletes select count(*) from gone; return null; end $$;
    create trigger note_delete after delete on agent.spans
      referencing old table as gone for each statement execute function note_delete()`)
  return async () => {
    const rows = await app.db.sql<{ count: number }[]>`select count from deletes`
    await app.db.sql`drop trigger note_delete on agent.spans`
    return rows.map(({ count }) => count)
  }
}

test('old spans go in small batches, however many, and young ones stay', async () => {
  const deletes = await watchDeletes()
  await recorded(250, 40)
  await recorded(100, 31)
  await recorded(70, 29)
  await recorded(5, 0)
  expect(await retainSpans(app.db, { retentionMs: 30 * DAY_MS, batchSize: 3 })).toBe(350)
  expect(await left()).toEqual({ 0: 5, 29: 70 })
  expect(Math.max(...(await deletes()))).toBe(3)
  expect(await retainSpans(app.db, { retentionMs: 30 * DAY_MS })).toBe(0)
})

test('a span that is being written is not waited for', async () => {
  await recorded(10, 40)
  await app.db.sql.begin(async (tx) => {
    await tx`update agent.spans set end_time = now() where id = '40 days ago 3'`
    expect(await retainSpans(app.db, { retentionMs: 30 * DAY_MS })).toBe(9)
  })
  expect(await retainSpans(app.db, { retentionMs: 30 * DAY_MS })).toBe(1)
})

test('a batch that others hold locked does not stop the rest', async () => {
  await recorded(10, 40)
  await app.db.sql.begin(async (tx) => {
    await tx`select from agent.spans order by created_at limit 7 for update`
    expect(await retainSpans(app.db, { retentionMs: 30 * DAY_MS, batchSize: 2 })).toBe(3)
  })
  expect(await retainSpans(app.db, { retentionMs: 30 * DAY_MS, batchSize: 2 })).toBe(7)
})

test('a span that escapes its deletion keeps no other', async () => {
  await recorded(400, 40)
  await app.db.sql.unsafe(`
    create sequence escapes;
    create function escape() returns trigger language plpgsql as
      $$ begin if nextval('escapes') % 3 = 0 then return null; end if; return old; end $$;
    create trigger escape before delete on agent.spans for each row execute function escape()`)
  await retainSpans(app.db, { retentionMs: 30 * DAY_MS, batchSize: 2 })
  await app.db.sql`drop trigger escape on agent.spans`
  const { 40: escaped = 0 } = await left()
  expect(escaped).toBeLessThan(100)
})

/** A connection that counts what it reads, of a table that only it vacuums. */
const counting = async () => {
  const db = connect({ url: app.url, applicationName: 'retention', maxConnections: 1 })
  await db.sql`alter table agent.spans set (autovacuum_enabled = off)`
  return db
}

const readBy = async ({ sql }: Database, work: () => Promise<unknown>) => {
  const soFar = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [counts] = await sql<[{ pages: number; entries: number }]>`
      select (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages,
        (select idx_tup_read::int from pg_stat_user_indexes where indexrelname = 'spans_by_created_at') as entries
      from pg_statio_user_tables where schemaname = 'agent' and relname = 'spans'`
    return counts
  }
  const before = await soFar()
  await work()
  const after = await soFar()
  return { pages: after.pages - before.pages, entries: after.entries - before.entries }
}

test.each(['vacuum', 'vacuum analyze'])(
  'a run that finds nothing old reads a few pages, though new spans took the room of old ones: %s',
  async (vacuum) => {
    await using db = await counting()
    for (let today = 8; today >= 0; today -= 1) {
      await recorded(2000, today)
      await retainSpans(db, { retentionMs: (today + 2.5) * DAY_MS })
      await db.sql.unsafe(`${vacuum} agent.spans`)
    }
    expect(await left()).toEqual({ 0: 2000, 1: 2000, 2: 2000 })
    const [table] = await db.sql<[{ pages: number }]>`select pg_relation_size('agent.spans')::int / 8192 as pages`
    expect(table.pages).toBeGreaterThan(100)
    const read = await readBy(db, () => retainSpans(db, { retentionMs: 2.5 * DAY_MS }))
    expect(read.pages).toBeLessThan(20)
  },
)

test('a batch passes over what the one before deleted and no more, even while a snapshot keeps all of it', async () => {
  await recorded(1000, 40, 1000)
  await using db = await counting()
  const { entries } = await app.db.sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select from agent.spans`
    return readBy(db, async () => {
      expect(await retainSpans(db, { retentionMs: 30 * DAY_MS, batchSize: 10 })).toBe(1000)
    })
  })
  expect(entries).toBeLessThan(3 * 1000)
})

test('it stops between two batches when it is told to', async () => {
  await recorded(1000, 40)
  const stopped = await retainSpans(app.db, { retentionMs: DAY_MS, batchSize: 1, signal: AbortSignal.timeout(50) })
  expect(stopped).toBeGreaterThan(0)
  expect(await left()).toEqual({ 40: 1000 - stopped })
  expect(stopped).toBeLessThan(1000)
})

test('the scheduled job does it again and again', async () => {
  const log = createLogger({ service: 'agent-api', level: 'fatal' })
  await using _job = scheduleRetention(app.db, { retentionMs: DAY_MS, intervalMs: 10, log })
  for (const days of [2, 3]) {
    await recorded(3, days)
    await eventually(async () => expect(await left()).toEqual({}))
  }
})

test('the command deletes what SPAN_RETENTION says and ends with 0', async () => {
  await recorded(3, 40)
  await recorded(3, 20)
  const env = { PATH: process.env['PATH'], DATABASE_URL: app.url, SPAN_RETENTION: '30d' }
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND], { env })
  expect(stdout).toContain('deleted 3 spans\n')
  expect(await left()).toEqual({ 20: 3 })
})
