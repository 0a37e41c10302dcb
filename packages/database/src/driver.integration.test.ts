import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startPostgres } from '@keelson/local-stack'
import { eventually, testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { connect, type Database } from './connect.ts'
import { isTransient } from './errors.ts'
import { TextBytes } from './text-bytes.ts'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())

const open = (url: string, maxConnections: number) => connect({ url, applicationName: 'driver test', maxConnections })

const cutConnection = async ({ sql }: Pick<Database, 'sql'>) => {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  await database.db.sql`select pg_terminate_backend(${row!.pid})`
}

const codeOf = (query: PromiseLike<unknown>) =>
  Promise.resolve(query).then(
    () => 'resolved',
    (error: { code: string }) => error.code,
  )

const sessionCount = 12

/** Keeps every kind of query in flight until told to stop; counts what settles, and what settles unexpectedly. */
const traffic = (db: Database) => {
  const counts = { succeeded: 0, transient: 0 }
  const surprises: unknown[] = []
  const stopping = new AbortController()
  const kinds = [
    (n: number) => db.sql`insert into load (n, filler) values (${n}, ${'x'.repeat(2000)})`,
    (n: number) => Promise.all([1, 2, 3].map((k) => db.sql`select ${n + k}::int`)),
    (n: number) => db.sql.begin((tx) => Promise.all([tx`insert into load (n) values (${n})`, tx`select ${n}::int`])),
    async (n: number) => {
      const session = await db.sql.reserve()
      await Promise.all([session`select ${n}::int`, session`select pg_sleep(0.001)`]).finally(() => session.release())
    },
  ]
  const worker = async (index: number) => {
    for (let n = index; !stopping.signal.aborted; n += sessionCount) {
      await Promise.resolve(kinds[n % kinds.length]!(n)).then(
        () => (counts.succeeded += 1),
        (error: unknown) => (isTransient(error) ? (counts.transient += 1) : surprises.push(error)),
      )
    }
  }
  const workers = Array.from({ length: sessionCount }, (_, index) => worker(index))
  return {
    counts,
    surprises,
    stop: () => {
      stopping.abort()
      return Promise.all(workers)
    },
  }
}

test(
  'a pool survives kill -9 of Postgres under load: every query settles, and it works again after the restart',
  { timeout: 90_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-kill-'))
    const port = await freePort()
    const uncaught: unknown[] = []
    const catcher = (error: unknown) => void uncaught.push(error)
    process.on('uncaughtException', catcher)
    let server = await startPostgres({ directory, port, durable: false })
    const db = open(server.url, 4)
    try {
      await db.sql`create table load (n int, filler text)`
      await db.sql`checkpoint`
      const load = traffic(db)
      for (let kill = 0; kill < 5; kill += 1) {
        const before = load.counts.succeeded
        await eventually(() => expect(load.counts.succeeded).toBeGreaterThan(before + 200))
        process.kill(server.pid, 'SIGKILL')
        await server.exited
        server = await eventually(() => startPostgres({ directory, port, durable: false }))
      }
      const before = load.counts.succeeded
      await eventually(() => expect(load.counts.succeeded).toBeGreaterThan(before + 200))
      await load.stop()
      expect(load.surprises).toEqual([])
      expect(uncaught).toEqual([])
      expect(load.counts.transient).toBeGreaterThan(0)
      await Promise.all(Array.from({ length: 40 }, () => db.sql`select pg_sleep(0.01)`))
    } finally {
      process.off('uncaughtException', catcher)
      await db[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    }
  },
)

test('a statement of a transaction whose connection was lost never runs on its own', async () => {
  await using db = open(database.url, 1)
  await db.sql`create table if not exists lost (n int)`
  let late = Promise.resolve('')
  const outer = db.sql.begin(async (tx) => {
    await tx`insert into lost values (1)`
    await cutConnection({ sql: tx as never })
    await eventually(() => db.sql`select 1`)
    late = codeOf(tx`insert into lost values (2)`)
    await late
  })
  expect(await codeOf(outer)).toBe('CONNECTION_CLOSED')
  await eventually(async () => expect(await late).toBe('CONNECTION_CLOSED'))
  expect(await db.sql`select n from lost`).toHaveLength(0)
})

test('a reserved connection that was lost rejects what was queued on it and returns to the pool healthy', async () => {
  await using db = open(database.url, 1)
  const session = await db.sql.reserve()
  const [{ pid } = { pid: 0 }] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`
  const queued = [1, 2, 3].map((n) => session`select ${n}::int, pg_sleep(20)`.then(() => false, isTransient))
  await database.db.sql`select pg_terminate_backend(${pid})`
  expect(await Promise.all(queued)).toEqual([true, true, true])
  expect(await codeOf(session`select 1`)).toBe('CONNECTION_CLOSED')
  session.release()
  expect(await db.sql`select 1 as one`).toEqual([{ one: 1 }])
})

test('of the connections that are free the one used last is used next, so that a lone caller finds its plans and caches', async () => {
  await using db = open(database.url, 4)
  const pids = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => db.sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.05)`),
    )
  expect(new Set((await pids(4)).map(([row]) => row?.pid)).size).toBe(4)
  const alone = new Set<number | undefined>()
  for (let query = 0; query < 8; query += 1) alone.add((await pids(1))[0]?.[0]?.pid)
  expect(alone.size).toBe(1)
})

test('a server that takes connections and closes them at once fails the query soon', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {}).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using db = open(`postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/none`, 1)
  expect(await codeOf(db.sql`select 1`)).toBe('CONNECTION_CLOSED')
  expect(connections).toBe(1)
  server.close()
})

test('with nobody listening, queries fail within a second and go on failing as fast', async () => {
  await using db = open(`postgres://u:p@127.0.0.1:${await freePort()}/none`, 2)
  for (let round = 0; round < 6; round += 1) {
    const started = performance.now()
    expect(await codeOf(db.sql`select 1`)).toBe('ECONNREFUSED')
    expect(performance.now() - started).toBeLessThan(1_000)
  }
})

test('an error of drizzle says which statement failed and never shows its parameters', async () => {
  const { sql } = await import('drizzle-orm')
  const secret = 'canary-5f1c'
  const failure = await database.db.orm.execute(sql`select ${secret}::int`).catch((error: Error) => error)
  expect(failure).toBeInstanceOf(Error)
  const own = failure as Error
  expect([own.message, own.stack, JSON.stringify(own)].join()).toContain('select $1::int')
  expect([own.message, own.stack, JSON.stringify(own)].join()).not.toContain(secret)
})

test('parameters of any length arrive whole, as texts or as the bytes of texts, many statements at once', async () => {
  await using db = open(database.url, 3)
  const lengths = [0, 1, 100, 5_000, 65_000, 70_000, 400_000, 2_000_000]
  const texts = lengths.flatMap((length) => ['x'.repeat(length), 'é€😀'.repeat(length / 3)])
  const statement = 'select md5($1::text || $2::text || $3::text) as md5'
  const sums = texts.flatMap((text, index) => {
    const other = texts[(index * 7) % texts.length]!
    const bytes = new TextBytes(Buffer.from(text))
    return [
      [text, other, ''],
      [bytes as never, '', other],
      ['', bytes as never, other],
    ].map(async (parameters) => ({
      md5: (await db.sql.unsafe<{ md5: string }[]>(statement, parameters, { prepare: true }))[0]?.md5,
      wanted: createHash('md5')
        .update(text + other)
        .digest('hex'),
    }))
  })
  for (const { md5, wanted } of await Promise.all(sums)) expect(md5).toBe(wanted)
})

test('a statement is known by its text and the types it was made with, and made anew when its result has changed', async () => {
  await using db = open(database.url, 1)
  const { sql } = db
  const kindOf = async (value: unknown) => {
    const [row] = await sql.unsafe('select pg_typeof($1)::text as kind', [value as string], { prepare: true })
    return row!['kind']
  }
  const kinds = [true, 5n, true, 5n]
  const told: unknown[] = []
  for (const kind of kinds) told.push(await kindOf(kind))
  expect(told).toEqual(['boolean', 'bigint', 'boolean', 'bigint'])
  const made =
    await sql`select parameter_types::text from pg_prepared_statements where statement like 'select pg_typeof%'`
  expect(made).toHaveLength(2)

  await sql`create table changing (a integer)`
  await sql`insert into changing values (1)`
  const read = () => sql.unsafe('select * from changing', [], { prepare: true })
  expect(await read()).toEqual([{ a: 1 }])
  await sql`alter table changing add column b integer default 2`
  expect(await read()).toEqual([{ a: 1, b: 2 }])
})
