import { sql } from 'drizzle-orm'
import { pgTable } from 'drizzle-orm/pg-core'
import { testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { withAccount } from './account.ts'
import { bytes, jsonText, timestamp } from './columns.ts'
import { connect } from './connect.ts'
import { isTransient, sqlStateOf } from './errors.ts'

const database = await testDatabase()
const { db, url } = database
afterAll(() => database[Symbol.asyncDispose]())

const samples = pgTable('samples', {
  at: timestamp().notNull(),
  times: timestamp().array(),
  bytes: bytes(),
  json: jsonText(),
})

test('times, bytes and JSON text come back as they went in, through SQL and through drizzle', async () => {
  await db.sql`create table samples (at timestamptz not null, times timestamptz[], bytes bytea, json text)`
  const row = {
    at: '2026-11-21T09:30:00.123456Z',
    times: ['2026-11-21T09:30:00Z', '0001-01-01T00:00:00Z'],
    bytes: Buffer.from([0, 255, 92, 39]),
    json: '{"b":1.0,"a":12345678901234567890}',
  }
  await db.orm.insert(samples).values(row)
  expect(await db.orm.select().from(samples)).toEqual([row])
  expect([...(await db.sql`select * from samples`)]).toEqual([row])
  await db.sql`update samples set times = ${row.times.toReversed()}, bytes = (${db.sql.array([row.bytes], 17)}::bytea[])[1]`
  expect(await db.orm.select().from(samples)).toEqual([{ ...row, times: row.times.toReversed() }])
})

test('a session speaks UTC whatever the server or the role says', async () => {
  await db.sql`do $$ begin execute format('alter role %I set timezone = %L', current_user, 'Asia/Kathmandu'); end $$`
  await using other = connect({ url, applicationName: 'utc' })
  expect(await other.sql`select '2026-11-21 09:30:00+05:45'::timestamptz as at`).toEqual([
    { at: '2026-11-21T03:45:00Z' },
  ])
  await db.sql`do $$ begin execute format('alter role %I reset timezone', current_user); end $$`
})

test('int8 and json arrive exactly', async () => {
  const [row] = await db.sql`
    select 9007199254740991::int8 as safe, 9007199254740993::int8 as big, '{"a": 1.0}'::json as json, '[1e400]'::jsonb as jsonb`
  expect(row).toMatchObject({ safe: 9007199254740991, big: 9007199254740993n, json: '{"a": 1.0}' })
  expect(typeof row?.['jsonb']).toBe('string')
})

test('a statement that runs too long is cancelled and counts as transient', async () => {
  await using impatient = connect({ url, applicationName: 'impatient', statementTimeoutMs: 50 })
  const error = await impatient.sql`select pg_sleep(20)`.catch((caught: unknown) => caught)
  expect(sqlStateOf(error)).toBe('57014')
  expect(isTransient(error)).toBe(true)
})

test('a statement waits for a lock only so long', async () => {
  await using impatient = connect({ url, applicationName: 'impatient', lockTimeoutMs: 50 })
  await db.sql.begin(async (tx) => {
    await tx`lock table identity.accounts`
    const error = await impatient.sql`select 1 from identity.accounts`.catch((caught: unknown) => caught)
    expect(sqlStateOf(error)).toBe('55P03')
    expect(isTransient(error)).toBe(true)
  })
})

test('withAccount names the account to row-level security, and only inside its transaction', async () => {
  await using one = connect({ url, applicationName: 'one', maxConnections: 1 })
  const named = (client: typeof one.sql) =>
    client<{ account: string | null }[]>`select nullif(current_setting('keelson.account_id', true), '') as account`
  expect(await withAccount(one, 'acct_a', (tx) => named(tx as never))).toEqual([{ account: 'acct_a' }])
  expect(await named(one.sql)).toEqual([{ account: null }])
})

test('drizzle and SQL share one pool', async () => {
  await using one = connect({ url, applicationName: 'one', maxConnections: 1 })
  const [direct] = await one.sql`select pg_backend_pid() as pid`
  expect([...(await one.orm.execute(sql`select pg_backend_pid() as pid`))]).toEqual([direct])
})
