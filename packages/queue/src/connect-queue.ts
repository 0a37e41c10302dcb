import type { Backend } from './backend.ts'
import { validTraceparent } from './bullmq-options.ts'
import { catalogue, type JobName, type JobPayload } from './catalogue.ts'
import { doorbell, type Doorbell } from './doorbell.ts'
import type { DoorbellState } from './doorbell-health.ts'
import { watchEvictionPolicy } from './eviction-policy.ts'
import { startWorker, type JobHandler, type JobWorker, type WorkOptions } from './job-worker.ts'
import { SILENT, type Observer } from './observer.ts'
import { assertQueueMigrated, postgresBackend } from './postgres-backend.ts'
import { failFastRedis, redisBackend } from './redis-backend.ts'

export type ConnectQueueOptions = Partial<Observer> & {
  /** Keeps the jobs in Redis when given. */
  redisUrl?: string | undefined
  /** Keeps the jobs in this database otherwise; it must have been through `migrateQueue`. */
  databaseUrl?: string | undefined
  /** What to do about a Redis that evicts keys when full (default `warn`). */
  evicting?: 'warn' | 'refuse'
  /** How long disposing waits for running jobs (default 10 s). */
  drainMs?: number
}

export type RingOptions = {
  /** Wakes a worker this much later (default 0). */
  delayMs?: number
  /** A W3C trace context to hand to the worker. */
  traceparent?: string | undefined
}

export type QueueState = {
  backend: Backend['name']
  /** By job, for those that were rung from here. */
  doorbells: Partial<Record<JobName, DoorbellState>>
  /** Workers running here. */
  workers: { job: JobName; state: ReturnType<JobWorker['state']> }[]
}

export type Queue = AsyncDisposable & {
  /**
   * Wakes a worker for a row, after the transaction that wrote the row has committed. Takes at most about 50 ms and
   * never rejects; a ring may be lost, doubled, late or out of order, so something must also look at rows unasked.
   */
  ring: <Name extends JobName>(name: Name, payload: JobPayload<Name>, options?: RingOptions) => Promise<void>
  /** Handles jobs of one kind until the result, or the queue, is disposed. */
  work: <Name extends JobName>(name: Name, handler: JobHandler<Name>, options?: WorkOptions) => AsyncDisposable
  /** Rejects when the backend does not answer within a second. */
  ping: () => Promise<void>
  /** Whether rings arrive, for health pages and gauges. */
  state: () => QueueState
}

const openBackend = async (
  { redisUrl, databaseUrl, evicting = 'warn' }: ConnectQueueOptions,
  { log }: Observer,
): Promise<Backend> => {
  if (redisUrl !== undefined && redisUrl !== '') {
    const redis = failFastRedis(redisUrl)
    redis.on('error', () => {})
    try {
      await watchEvictionPolicy(redis, evicting, log)
    } catch (error) {
      redis.disconnect()
      throw error
    }
    return redisBackend(redisUrl, redis)
  }
  if (databaseUrl === undefined) throw new TypeError('connectQueue needs redisUrl or databaseUrl')
  await assertQueueMigrated(databaseUrl)
  return postgresBackend(databaseUrl)
}

/**
 * Connects to the queue. A Redis that is away delays this by a second at most; Postgres must be there.
 *
 * @throws EvictingRedis when told to refuse it; Error when the tables in Postgres are missing or newer than this build
 */
export const connectQueue = async (options: ConnectQueueOptions): Promise<Queue> => {
  const observer: Observer = { log: options.log ?? SILENT.log, count: options.count ?? SILENT.count }
  const backend = await openBackend(options, observer)
  const doorbells = new Map<JobName, Doorbell>()
  const workers = new Map<JobWorker, JobName>()

  const doorbellOf = (name: JobName): Doorbell => {
    const known = doorbells.get(name)
    if (known) return known
    const made = doorbell(name, () => backend.producer(name), observer)
    doorbells.set(name, made)
    return made
  }

  return {
    ring: async (name, payload, { delayMs = 0, traceparent } = {}) => {
      const parsed = catalogue[name].schema.safeParse(payload)
      if (parsed.success) {
        return doorbellOf(name).ring({ payload: parsed.data, delayMs, traceparent: validTraceparent(traceparent) })
      }
      observer.count('queue_rings_total', { job: name, result: 'invalid' })
      observer.log.error({ job: name }, 'A ring with an invalid payload was not sent')
    },
    work: (name, handler, workOptions = {}) => {
      const worker = startWorker({
        ...workOptions,
        name,
        handler,
        backend,
        observer,
        drainMs: options.drainMs ?? 10_000,
      })
      workers.set(worker, name)
      return worker
    },
    ping: backend.ping,
    state: () => ({
      backend: backend.name,
      doorbells: Object.fromEntries([...doorbells].map(([name, bell]) => [name, bell.state()])),
      workers: [...workers].map(([worker, job]) => ({ job, state: worker.state() })),
    }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...workers.keys()].map((worker) => worker[Symbol.asyncDispose]()))
      await Promise.all([...doorbells.values()].map((bell) => bell.close()))
      await backend[Symbol.asyncDispose]()
    },
  }
}
