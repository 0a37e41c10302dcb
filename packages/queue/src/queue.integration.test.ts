import { eventually, testDatabase, testRedis, type TestDatabase } from '@keelson/testing'
import { createPostgresBackend, Queue as BullQueue } from 'bullmq'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectQueue, migrateQueue, type ConnectQueueOptions, type JobPayload, type Queue } from './index.ts'
import { recorder } from './recorder.fixture.ts'

type Target = Pick<ConnectQueueOptions, 'redisUrl' | 'databaseUrl'>
type Webhook = JobPayload<'deliver_webhook'>

const redisUrl = testRedis()
let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
  await migrateQueue(database.url)
})
afterAll(() => database[Symbol.asyncDispose]())

const storedInRedis = async (url: string): Promise<string> => {
  const redis = new Redis(url)
  const keys = await redis.keys('*')
  const values = await Promise.all(
    keys.map(async (key) => {
      const type = await redis.type(key)
      return type === 'hash' ? JSON.stringify(await redis.hgetall(key)) : ''
    }),
  )
  redis.disconnect()
  return values.join('\n')
}

const storedInPostgres = async (url: string): Promise<string> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ data: unknown; opts: unknown }>('select data, opts from bullmq.job')
  await client.end()
  return JSON.stringify(rows)
}

const addStrangeJob = async ({ redisUrl, databaseUrl }: Target) => {
  const job = { name: 'deliver_webhook', data: { something: 'else' }, opts: { removeOnComplete: true } }
  if (redisUrl === undefined) {
    const queue = new BullQueue('deliver_webhook', { connection: databaseUrl ?? '' }, createPostgresBackend)
    await queue.addBulk([job])
    return queue.close()
  }
  const redis = new Redis(redisUrl)
  await new BullQueue('deliver_webhook', { connection: redis, prefix: 'keelson' }).addBulk([job])
  redis.disconnect()
}

const backends = [
  {
    name: 'redis',
    skip: redisUrl === null,
    target: (): Target => ({ redisUrl: redisUrl ?? '' }),
    stored: () => storedInRedis(redisUrl ?? ''),
  },
  {
    name: 'postgres',
    skip: false,
    target: (): Target => ({ databaseUrl: database.url }),
    stored: () => storedInPostgres(database.url),
  },
]

for (const { name, skip, target, stored } of backends) {
  describe.skipIf(skip)(`a queue on ${name}`, () => {
    const seeing = (queue: Queue, options = {}) => {
      const seen: Webhook[] = []
      const worker = queue.work('deliver_webhook', async (payload) => void seen.push(payload), options)
      return { seen, ids: () => seen.map(({ delivery_id }) => delivery_id), worker }
    }

    test('wakes a worker on another connection for the row that was rung', async () => {
      await using producer = await connectQueue(target())
      await using consumer = await connectQueue(target())
      const { seen, worker } = seeing(consumer)
      await producer.ring('deliver_webhook', { delivery_id: 'one', account_id: 'acct_a' })
      await eventually(() => expect(seen).toEqual([{ delivery_id: 'one', account_id: 'acct_a' }]))
      await worker[Symbol.asyncDispose]()
    })

    test('keeps a ring that came before any worker', async () => {
      await using queue = await connectQueue(target())
      await queue.ring('deliver_webhook', { delivery_id: 'early' })
      const { ids } = seeing(queue)
      await eventually(() => expect(ids()).toEqual(['early']))
    })

    test('delivers a delayed ring when it is due, and others before it', async () => {
      await using queue = await connectQueue(target())
      const { ids } = seeing(queue)
      const started = performance.now()
      await queue.ring('deliver_webhook', { delivery_id: 'later' }, { delayMs: 700 })
      await queue.ring('deliver_webhook', { delivery_id: 'now' })
      await eventually(() => expect(ids()).toContain('later'))
      const elapsed = performance.now() - started
      expect(ids()).toEqual(['now', 'later'])
      expect(elapsed).toBeGreaterThan(690)
      expect(elapsed).toBeLessThan(6_000)
    })

    test('sends equal rings of one moment once, and a ring that follows a delivered one again', async () => {
      const { count, rings } = recorder()
      await using queue = await connectQueue({ ...target(), count })
      const { ids } = seeing(queue)
      await Promise.all(Array.from({ length: 20 }, () => queue.ring('deliver_webhook', { delivery_id: 'twenty' })))
      await eventually(() => expect(ids()).toEqual(['twenty']))
      await queue.ring('deliver_webhook', { delivery_id: 'twenty' })
      await eventually(() => expect(ids()).toEqual(['twenty', 'twenty']))
      expect(rings()).toEqual({ coalesced: 19, rung: 2 })
    })

    test('wakes again for a row that was rung while its handler ran', async () => {
      await using queue = await connectQueue(target())
      const release = Promise.withResolvers<void>()
      let calls = 0
      queue.work('deliver_webhook', async () => {
        calls += 1
        await release.promise
      })
      await queue.ring('deliver_webhook', { delivery_id: 'busy' })
      await eventually(() => expect(calls).toBe(1))
      await queue.ring('deliver_webhook', { delivery_id: 'busy' })
      release.resolve()
      await eventually(() => expect(calls).toBe(2))
    })

    test('loses none of 500 rings made at once and runs no more handlers than asked', async () => {
      await using queue = await connectQueue(target())
      let running = 0
      let most = 0
      const seen = new Set<string>()
      const handler = async ({ delivery_id }: Webhook) => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        seen.add(delivery_id)
        running -= 1
      }
      queue.work('deliver_webhook', handler, { concurrency: 8 })
      await Promise.all(
        Array.from({ length: 500 }, (_, index) => queue.ring('deliver_webhook', { delivery_id: `many_${index}` })),
      )
      await eventually(() => expect(seen.size).toBe(500))
      expect(most).toBeLessThanOrEqual(8)
    })

    test('does not send a payload the catalogue refuses, and says so', async () => {
      const { count, rings, lines, log } = recorder()
      await using queue = await connectQueue({ ...target(), count, log })
      await queue.ring('deliver_webhook', { delivery_id: 'not an id: hunter2' })
      expect(rings()).toEqual({ invalid: 1 })
      expect(lines()).toEqual(['error A ring with an invalid payload was not sent'])
      expect(await stored()).not.toContain('hunter2')
    })

    test('drops a stored job whose payload it does not know, and goes on', async () => {
      const { count, jobs, lines, log } = recorder()
      await using queue = await connectQueue({ ...target(), count, log })
      await addStrangeJob(target())
      const { ids } = seeing(queue)
      await queue.ring('deliver_webhook', { delivery_id: 'known' })
      await eventually(() => expect(ids()).toEqual(['known']))
      await eventually(() => expect(jobs()).toEqual({ invalid: 1, done: 1 }))
      expect(lines()).toContain('warn A job with an unknown payload was dropped')
    })

    test('carries the trace of the caller, and only a well-formed one', async () => {
      await using queue = await connectQueue(target())
      const seen: (string | undefined)[] = []
      queue.work('advance_deployment', async (_, { traceparent }) => void seen.push(traceparent))
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      await queue.ring('advance_deployment', { deployment_id: 'traced' }, { traceparent })
      await eventually(() => expect(seen).toEqual([traceparent]))
      await queue.ring('advance_deployment', { deployment_id: 'traced' }, { traceparent: 'hunter2' })
      await eventually(() => expect(seen).toEqual([traceparent, undefined]))
    })

    test('stores ids and nothing else, whatever a caller adds', async () => {
      await using queue = await connectQueue(target())
      const payload = { deployment_id: 'deploy_1', account_id: 'acct_1', env_vars: { TOKEN: 'canary-5c1d' } }
      await queue.ring('advance_deployment', payload, { delayMs: 60_000 })
      await eventually(async () => expect(await stored()).toContain('deploy_1'))
      expect(await stored()).not.toContain('canary-5c1d')
    })

    test('a handler that throws is counted, its error is stored nowhere, and the next job runs', async () => {
      const { count, jobs } = recorder()
      await using queue = await connectQueue({ ...target(), count })
      queue.work('deliver_webhook', async ({ delivery_id }) => {
        if (delivery_id === 'bad') throw new Error('canary-77aa')
      })
      await queue.ring('deliver_webhook', { delivery_id: 'bad' })
      await queue.ring('deliver_webhook', { delivery_id: 'good' })
      await eventually(() => expect(jobs()).toEqual({ failed: 1, done: 1 }))
      expect(await stored()).not.toContain('canary-77aa')
    })

    test('answers ping and tells its state', async () => {
      await using queue = await connectQueue(target())
      await queue.ping()
      expect(queue.state()).toEqual({ backend: name, doorbells: {}, workers: [] })
      const { ids } = seeing(queue)
      await queue.ring('deliver_webhook', { delivery_id: 'state' })
      await eventually(() => expect(ids()).toEqual(['state']))
      expect(queue.state()).toMatchObject({
        doorbells: { deliver_webhook: { status: 'working', failures: 0, failing_since: null } },
        workers: [{ job: 'deliver_webhook', state: 'working' }],
      })
    })

    test('disposing lets a running handler finish', async () => {
      const queue = await connectQueue(target())
      const started = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      let finished = false
      queue.work('deliver_webhook', async () => {
        started.resolve()
        await release.promise
        finished = true
      })
      await queue.ring('deliver_webhook', { delivery_id: 'slow' })
      await started.promise
      const disposed = queue[Symbol.asyncDispose]()
      release.resolve()
      await disposed
      expect(finished).toBe(true)
    })
  })
}
