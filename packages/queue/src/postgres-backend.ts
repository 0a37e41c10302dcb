import type { EventEmitter } from 'node:events'
import { assertSchemaCompatibility, createPostgresBackend, Queue, runMigrations, type PgPool } from 'bullmq'
import { Client, Pool } from 'pg'
import type { Backend, BackendWorker, Producer, WorkerOptions } from './backend.ts'
import { bulkJobs, QUEUE_OPTIONS, workerOptions } from './bullmq-options.ts'
import { PatientWorker } from './patient-worker.ts'
import { within } from './within.ts'

const SCHEMA = 'bullmq'
const PRODUCER_TIMEOUT_MS = 500
const WORKER_TIMEOUT_MS = 10_000
const PING_TIMEOUT_MS = 1_000
const CLOSE_TIMEOUT_MS = 1_000
const MAX_WORKER_CONNECTIONS = 4
/** A bulk of BullMQ makes temporary tables, which takes as long as five single jobs. */
const WORTH_A_BULK = 6

const withSearchPath = (databaseUrl: string): string => {
  const url = new URL(databaseUrl)
  const options = [url.searchParams.get('options'), `-c search_path=${SCHEMA}`]
  url.searchParams.set('options', options.filter((option) => option !== null).join(' '))
  return url.href
}

/** A connection that ends between two statements of BullMQ has nobody to tell, and would end the process; the next one fails. */
const surviveLoss = (client: EventEmitter): void => void client.on('error', () => {})

const openPool = (databaseUrl: string, applicationName: string, max: number, timeoutMs: number) => {
  const pool = new Pool({
    connectionString: withSearchPath(databaseUrl),
    application_name: applicationName,
    max,
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  pool.on('error', () => {})
  pool.on('connect', surviveLoss)
  return pool
}

/** pg's own types and BullMQ's idea of them differ in an overload; the objects fit. */
const forBullmq = (pool: Pool): PgPool => pool as unknown as PgPool

const producer = (pool: Pool, name: string): Producer => {
  const queue = new Queue(name, { ...QUEUE_OPTIONS, connection: forBullmq(pool) }, createPostgresBackend)
  queue.on('error', () => {})
  return {
    ready: async () => {
      await queue.waitUntilReady()
    },
    add: async (rings) => {
      const jobs = bulkJobs(name, rings)
      if (jobs.length >= WORTH_A_BULK) await queue.addBulk(jobs)
      else await Promise.all(jobs.map(({ name: job, data, opts }) => queue.add(job, data, opts)))
    },
    close: () => queue.close(),
  }
}

const worker = (databaseUrl: string, queue: string, options: WorkerOptions): BackendWorker => {
  // One more connection than the queries need: the worker listens on it.
  const connections = Math.min(options.concurrency, MAX_WORKER_CONNECTIONS) + 1
  const pool = openPool(databaseUrl, 'queue worker', connections, WORKER_TIMEOUT_MS)
  const settings = { ...workerOptions(options), connection: forBullmq(pool) }
  const bullmq = new PatientWorker(queue, options.process, settings, createPostgresBackend)
  bullmq.on('error', options.onError)
  bullmq.on('stalled', options.onStalled)
  return {
    ready: () => bullmq.waitUntilReady(),
    run: () => bullmq.run(),
    close: async () => {
      await bullmq.close()
      await pool.end()
    },
    abandon: () => {
      if (!pool.ending) void pool.end().catch(() => {})
    },
  }
}

/** Jobs in the schema `bullmq` of our own database. */
export const postgresBackend = (databaseUrl: string): Backend => {
  const pool = openPool(databaseUrl, 'queue', 2, PRODUCER_TIMEOUT_MS)
  return {
    name: 'postgres',
    producer: (queue) => producer(pool, queue),
    worker: (queue, options) => worker(databaseUrl, queue, options),
    ping: async () => {
      await within(pool.query('select 1'), PING_TIMEOUT_MS)
    },
    [Symbol.asyncDispose]: async () => {
      await within(pool.end(), CLOSE_TIMEOUT_MS).catch(() => {})
    },
  }
}

const withClient = async <T>(databaseUrl: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'queue migration',
    connectionTimeoutMillis: 10_000,
  })
  surviveLoss(client)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Creates or updates BullMQ's tables. Needed before a queue is kept in Postgres; safe to repeat and to run at once from
 * several places.
 *
 * @returns the version of BullMQ's schema that the database is at now
 */
export const migrateQueue = (databaseUrl: string): Promise<number> =>
  withClient(databaseUrl, (client) => runMigrations(client, SCHEMA))

/** @throws Error when BullMQ's tables are missing or newer than this build */
export const assertQueueMigrated = async (databaseUrl: string): Promise<void> => {
  await withClient(databaseUrl, (client) => assertSchemaCompatibility(client, SCHEMA))
}
