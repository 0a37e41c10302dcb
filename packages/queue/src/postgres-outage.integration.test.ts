import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { eventually, testDatabase, type TestDatabase } from '@keelson/testing'
import { Client, escapeIdentifier } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectQueue, migrateQueue, type Queue } from './index.ts'

const RING_LIMIT_MS = 2000

let database: TestDatabase
let admin: Client

beforeAll(async () => {
  database = await testDatabase()
  admin = new Client({ connectionString: Object.assign(new URL(database.url), { pathname: '/postgres' }).href })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await database[Symbol.asyncDispose]()
})

const databaseName = () => new URL(database.url).pathname.slice(1)
const allowConnections = (allowed: boolean) =>
  admin.query(`alter database ${escapeIdentifier(databaseName())} with allow_connections ${String(allowed)}`)
const killConnections = () =>
  admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [databaseName()])

const doorbellOf = (queue: Queue) => queue.state().doorbells.deliver_webhook?.status

test('refuses to start on a database without its tables, and migrating is repeatable', async () => {
  await expect(connectQueue({ databaseUrl: database.url })).rejects.toThrow(/not initialized/)
  const versions = await Promise.all([migrateQueue(database.url), migrateQueue(database.url)])
  expect(versions[0]).toBe(versions[1])
  await using queue = await connectQueue({ databaseUrl: database.url })
  await queue.ping()
})

test('rings fast while Postgres refuses everybody, and doorbell and worker recover', async () => {
  await using queue = await connectQueue({ databaseUrl: database.url })
  const seen: string[] = []
  queue.work('deliver_webhook', async ({ delivery_id }) => void seen.push(delivery_id))
  await queue.ring('deliver_webhook', { delivery_id: 'before' })
  await eventually(() => expect(seen).toEqual(['before']))

  await allowConnections(false)
  await killConnections()
  const times: number[] = []
  const cpu = process.cpuUsage()
  for (let index = 0; index < 40; index += 1) {
    const before = performance.now()
    await queue.ring('deliver_webhook', { delivery_id: `gone_${index}` })
    times.push(performance.now() - before)
  }
  expect(Math.max(...times)).toBeLessThan(RING_LIMIT_MS)
  expect(process.cpuUsage(cpu).user).toBeLessThan(2_000_000)
  expect(doorbellOf(queue)).toBe('failing')
  await expect(queue.ping()).rejects.toThrow(/not currently accepting/)

  await allowConnections(true)
  await eventually(
    async () => {
      await queue.ring('deliver_webhook', { delivery_id: 'after' })
      expect(seen).toContain('after')
    },
    { deadlineMs: 15_000, intervalMs: 100 },
  )
  expect(doorbellOf(queue)).toBe('working')
})

const READY = Buffer.from([0x5a, 0, 0, 0, 5])
const FIELDS = 'SFATAL\0C57P01\0Mterminating connection\0\0'
const FATAL = Buffer.concat([Buffer.from([0x45, 0, 0, 0, 4 + FIELDS.length]), Buffer.from(FIELDS)])

/** Postgres behind a proxy; while `dying`, it ends connections in the breath in which it is ready, as when it is killed. */
const mortalPostgres = async () => {
  const { hostname, port } = new URL(database.url)
  const state = { dying: false }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    client.pipe(upstream)
    upstream.on('data', (chunk) =>
      client.write(state.dying && chunk.includes(READY) ? Buffer.concat([chunk, FATAL]) : chunk),
    )
    for (const socket of [client, upstream])
      socket
        .on('error', () => {})
        .on('close', () => {
          client.destroy()
          upstream.destroy()
        })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = Object.assign(new URL(database.url), { port: String((server.address() as AddressInfo).port) }).href
  return { state, url, [Symbol.dispose]: () => void server.close() }
}

test('a connection that ends before its first statement ends nothing else', async () => {
  await migrateQueue(database.url)
  const uncaught: unknown[] = []
  const catcher = (error: unknown) => void uncaught.push(error)
  process.on('uncaughtException', catcher)
  try {
    using postgres = await mortalPostgres()
    await using queue = await connectQueue({ databaseUrl: postgres.url })
    postgres.state.dying = true
    await queue.ring('deliver_webhook', { delivery_id: 'lost' })
    await eventually(() => expect(doorbellOf(queue)).toBe('failing'))
    await expect(connectQueue({ databaseUrl: postgres.url })).rejects.toThrow(/not queryable/)
  } finally {
    process.off('uncaughtException', catcher)
  }
  expect(uncaught).toEqual([])
})

test('a worker started while Postgres refuses everybody takes jobs once it does not', async () => {
  await using queue = await connectQueue({ databaseUrl: database.url })
  await allowConnections(false)
  await killConnections()
  const seen: string[] = []
  queue.work('deliver_webhook', async ({ delivery_id }) => void seen.push(delivery_id))
  await queue.ring('deliver_webhook', { delivery_id: 'lost' })
  expect(doorbellOf(queue)).toBe('failing')
  expect(queue.state().workers).toEqual([{ job: 'deliver_webhook', state: 'connecting' }])
  await allowConnections(true)
  await eventually(
    async () => {
      await queue.ring('deliver_webhook', { delivery_id: 'found' })
      expect(seen).toContain('found')
    },
    { deadlineMs: 15_000, intervalMs: 100 },
  )
})
