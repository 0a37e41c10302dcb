import { createRedisBackend, Queue } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import type { Backend, BackendWorker, Producer, WorkerOptions } from './backend.ts'
import { bulkJobs, QUEUE_OPTIONS, workerOptions } from './bullmq-options.ts'
import { PatientWorker } from './patient-worker.ts'
import { within } from './within.ts'

const PREFIX = 'keelson'
const COMMAND_TIMEOUT_MS = 500
const PING_TIMEOUT_MS = 1_000
const MAX_RECONNECT_DELAY_MS = 1_000

const COMMON = {
  connectTimeout: 2_000,
  retryStrategy: (attempt) =>
    Math.min(50 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_DELAY_MS) * (0.5 + Math.random() / 2),
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions

/** A connection on which every command fails at once or soon: nothing is kept for later. */
export const failFastRedis = (url: string): Redis =>
  new Redis(url, { ...COMMON, enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS })

const producer = (redis: Redis, name: string): Producer => {
  const queue = new Queue(name, { ...QUEUE_OPTIONS, connection: redis, prefix: PREFIX, skipVersionCheck: true })
  queue.on('error', () => {})
  return {
    ready: async () => {
      await queue.waitUntilReady()
    },
    add: async (rings) => {
      try {
        await queue.addBulk(bulkJobs(name, rings))
      } catch (error) {
        // Connected but mute: a new connection fails fast until somebody answers, and what was sent is not kept.
        if (error instanceof Error && error.message.includes('timed out') && redis.status === 'ready')
          redis.disconnect(true)
        throw error
      }
    },
    close: () => queue.close(),
  }
}

const worker = (url: string, queue: string, options: WorkerOptions): BackendWorker => {
  const redis = new Redis(url, { ...COMMON, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const settings = { ...workerOptions(options), connection: redis, prefix: PREFIX }
  const bullmq = new PatientWorker(queue, options.process, settings, createRedisBackend)
  bullmq.on('error', options.onError)
  bullmq.on('stalled', options.onStalled)
  return {
    ready: () => bullmq.waitUntilReady(),
    run: () => bullmq.run(),
    close: async () => {
      await bullmq.close()
      redis.disconnect()
    },
    abandon: () => {
      void bullmq
        .getBackend()
        .blockingConnection?.close(true)
        .catch(() => {})
      redis.disconnect()
    },
  }
}

/** Jobs in Redis. `redis` is the connection of all producers, made by `failFastRedis`; disposing closes it. */
export const redisBackend = (url: string, redis: Redis): Backend => ({
  name: 'redis',
  producer: (queue) => producer(redis, queue),
  worker: (queue, options) => worker(url, queue, options),
  ping: async () => {
    await within(redis.ping(), PING_TIMEOUT_MS)
  },
  [Symbol.asyncDispose]: async () => {
    await within(redis.quit(), COMMAND_TIMEOUT_MS).catch(() => {})
    redis.disconnect()
  },
})
