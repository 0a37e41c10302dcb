import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually, testDatabase, type TestDatabase } from '@keelson/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from './connect.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { defaultDirectory } from './migrations.ts'

let database: TestDatabase
let directory: string
beforeEach(async () => {
  database = await testDatabase()
  await database.db.sql`drop schema keelson cascade`
  directory = await mkdtemp(join(tmpdir(), 'keelson-migrations-'))
})
afterEach(async () => {
  await database[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

const file = (name: string, text: string) => writeFile(join(directory, name), text)
const run = (options = {}) =>
  migrate(database.url, { directory, ...options }).then((applied) => applied.map(({ name }) => name))

test('pending files are applied in order, once, gaps and late numbers included', async () => {
  await file('0002_two.sql', 'create table one_two (n int); create table two (n int);')
  await file('0001_one.sql', 'create table one (n int);')
  expect(await run()).toEqual(['0001_one.sql', '0002_two.sql'])
  await file('0040_forty.sql', 'create table forty (n int);')
  expect(await run()).toEqual(['0040_forty.sql'])
  await file('0010_ten.sql', 'create table ten (n int);')
  expect(await run()).toEqual(['0010_ten.sql'])
  expect(await run()).toEqual([])
})

test('a file that fails leaves nothing behind and stops the ones after it', async () => {
  await file('0001_one.sql', 'create table one (n int);')
  await file('0002_two.sql', 'create table half (n int); select 1 / 0;')
  await file('0003_three.sql', 'create table three (n int);')
  await expect(run()).rejects.toThrow('0002_two.sql failed: division by zero')
  const tables = await database.db
    .sql`select to_regclass('one') as one, to_regclass('half') as half, to_regclass('three') as three`
  expect(tables).toEqual([{ one: expect.anything(), half: null, three: null }])
  await file('0002_two.sql', 'create table whole (n int);')
  expect(await run()).toEqual(['0002_two.sql', '0003_three.sql'])
})

test('history that was edited, renamed or is newer than the build is refused by migrate and by services', async () => {
  await file('0001_one.sql', 'create table one (n int);')
  await run()
  await file('0001_one.sql', 'create table one (n bigint);')
  await expect(run()).rejects.toThrow('0001_one.sql was edited after it was applied')
  await expect(assertMigrated(database.db, { directory })).rejects.toThrow('0001_one.sql was edited')
  await rm(join(directory, '0001_one.sql'))
  await expect(run()).rejects.toThrow('migration 0001_one.sql, which this build does not know')
  await expect(assertMigrated(database.db, { directory })).rejects.toThrow('which this build does not know')
})

test('a service refuses a database that was never migrated or lacks a migration, and says which', async () => {
  await file('0001_one.sql', 'select 1;')
  await expect(assertMigrated(database.db, { directory })).rejects.toThrow(
    'The database lacks 0001_one.sql: run `pnpm db:migrate`',
  )
  await run()
  await assertMigrated(database.db, { directory })
  await file('0007_seven.sql', 'select 1;')
  await expect(assertMigrated(database.db, { directory })).rejects.toThrow('lacks 0007_seven.sql')
})

test('two files of one number and a file out of pattern are refused before anything runs', async () => {
  await file('0001_one.sql', 'create table one (n int);')
  await file('0001_uno.sql', 'create table uno (n int);')
  await expect(run()).rejects.toThrow('0001_one.sql and 0001_uno.sql share a number')
  await rm(join(directory, '0001_uno.sql'))
  await file('2_two.sql', 'create table two (n int);')
  await expect(run()).rejects.toThrow('2_two.sql is not named NNNN_name.sql')
  expect(await database.db.sql`select to_regclass('one') as one`).toEqual([{ one: null }])
})

test('ten migrators at once apply each file once', async () => {
  await file('0001_one.sql', 'create table one (n int); select pg_sleep(0.05);')
  await file('0002_two.sql', '-- outside a transaction\ncreate index concurrently one_n_idx on one (n);')
  const applied = await Promise.all(Array.from({ length: 10 }, () => run()))
  expect(applied.flat().toSorted()).toEqual(['0001_one.sql', '0002_two.sql'])
})

test('a file outside a transaction builds an index under traffic and can be repeated after a failure', async () => {
  await file('0001_one.sql', 'create table one (n int); insert into one values (1), (1);')
  const text =
    '-- outside a transaction: the table is in use\ndrop index concurrently if exists one_n_key;\ncreate unique index concurrently one_n_key on one (n);\n'
  await file('0002_index.sql', text)
  await expect(run()).rejects.toThrow('0002_index.sql failed: could not create unique index "one_n_key"')
  await database.db.sql`delete from one where ctid = (select min(ctid) from one)`
  expect(await run()).toEqual(['0002_index.sql'])
  expect(await database.db.sql`select indisvalid from pg_index where indexrelid = 'one_n_key'::regclass`).toEqual([
    { indisvalid: true },
  ])
})

test('a busy table is waited for in short tries, so that traffic is never held up for long', async () => {
  await file('0001_one.sql', 'create table one (n int);')
  await run()
  await file('0002_two.sql', 'alter table one add column m int;')
  const migrating = await database.db.sql.begin(async (tx) => {
    await tx`insert into one values (1)`
    const outcome = run({ lockTimeoutMs: 50, attempts: 20 })
    await eventually(async () => {
      const waiting = await database.db
        .sql`select 1 from pg_stat_activity where application_name = 'migrate' and wait_event_type = 'Lock'`
      expect(waiting).toHaveLength(1)
    })
    await using reader = connect({ url: database.url, applicationName: 'reader', lockTimeoutMs: 500 })
    for (let read = 0; read < 20; read += 1) await reader.sql`select count(*) from one`
    return { outcome }
  })
  expect(await migrating.outcome).toEqual(['0002_two.sql'])
  await expect(
    database.db.sql.begin(async (tx) => {
      await tx`lock table one`
      await file('0003_three.sql', 'alter table one add column k int;')
      await run({ lockTimeoutMs: 20, attempts: 2 })
    }),
  ).rejects.toThrow('0003_three.sql failed: canceling statement due to lock timeout')
})

test('the command applies what is pending, says so, and says when there is nothing to do', async () => {
  await database.db.sql`drop schema identity, platform, agent cascade`
  const command = (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, 'migrate-command.ts')], {
      env: { ...process.env, ...env },
    })
  const first = await command({ DATABASE_URL: database.url })
  expect(first.stdout).toMatch(/^applied 0001_identity\.sql in \d+ ms\n/)
  expect((await command({ DATABASE_URL: database.url })).stdout).toBe('the database is up to date\n')
  await assertMigrated(database.db)
  await expect(command({ DATABASE_URL: '' })).rejects.toMatchObject({ code: 78, stderr: 'DATABASE_URL is not set\n' })
  expect(defaultDirectory()).toMatch(/packages\/database\/migrations$/)
})
