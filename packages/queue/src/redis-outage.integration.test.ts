import { eventually, freePort, startRedis, testRedis, type TestRedisServer } from '@keelson/testing'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectQueue, EvictingRedis, type Queue } from './index.ts'
import { recorder } from './recorder.fixture.ts'

/** The budget of a ring is 50 ms; the rest is for a busy machine. */
const RING_LIMIT_MS = 2000

const pidOf = async (url: string): Promise<number> => {
  const redis = new Redis(url)
  const pid = /^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]
  redis.disconnect()
  return Number(pid)
}

const timedRing = async (queue: Queue, delivery_id: string): Promise<number> => {
  const before = performance.now()
  await queue.ring('deliver_webhook', { delivery_id })
  return performance.now() - before
}

const doorbellOf = (queue: Queue) => queue.state().doorbells.deliver_webhook?.status

const ringUntilSeen = (queue: Queue, seen: readonly string[], delivery_id: string) =>
  eventually(
    async () => {
      await queue.ring('deliver_webhook', { delivery_id })
      expect(seen).toContain(delivery_id)
      expect(doorbellOf(queue)).toBe('working')
    },
    { deadlineMs: 15_000, intervalMs: 100 },
  )

const connectAdmin = (url: string) => {
  const redis = new Redis(url)
  return Object.assign(redis, { [Symbol.asyncDispose]: async () => redis.disconnect() })
}

describe.skipIf(testRedis() === null)('a queue whose Redis is in trouble', () => {
  let port: number
  let server: TestRedisServer | null = null
  let stack: AsyncDisposableStack
  beforeEach(async () => {
    port = await freePort()
    stack = new AsyncDisposableStack()
  })
  afterEach(() => stack.disposeAsync())

  const start = async () => {
    server = await startRedis(port)
    if (server !== null) stack.use(server)
    return `redis://127.0.0.1:${port}`
  }
  const signal = async (name: NodeJS.Signals) => process.kill(await pidOf(`redis://127.0.0.1:${port}`), name)

  const worked = (queue: Queue) => {
    const seen: string[] = []
    queue.work('deliver_webhook', async ({ delivery_id }) => void seen.push(delivery_id))
    return seen
  }

  test('starts while Redis is away, rings fast, tells it, and works once Redis is there', async () => {
    const { count, log, rings, lines } = recorder()
    const redisUrl = `redis://127.0.0.1:${port}`
    const before = performance.now()
    const queue = stack.use(await connectQueue({ redisUrl, count, log }))
    expect(performance.now() - before).toBeLessThan(2_000)
    const seen = worked(queue)
    expect(await timedRing(queue, 'too_early')).toBeLessThan(RING_LIMIT_MS)
    await eventually(() => expect(doorbellOf(queue)).toBe('failing'))
    expect(rings()).toEqual({ failed: 1 })
    await expect(queue.ping()).rejects.toThrow(/writeable/)
    await start()
    await ringUntilSeen(queue, seen, 'in_time')
    expect(lines()).toContain('warn The doorbell does not ring: jobs start when the reconciler finds them')
    expect(lines()).toContain('info The doorbell works again')
    expect(seen).not.toContain('too_early')
    await queue.ping()
  })

  test('rings fast through a frozen Redis, and doorbell and worker recover when it goes on', async () => {
    const queue = stack.use(await connectQueue({ redisUrl: await start() }))
    const seen = worked(queue)
    await ringUntilSeen(queue, seen, 'before')
    const pid = await pidOf(`redis://127.0.0.1:${port}`)
    process.kill(pid, 'SIGSTOP')
    try {
      const times: number[] = []
      for (let index = 0; index < 40; index += 1) times.push(await timedRing(queue, `frozen_${index}`))
      expect(Math.max(...times)).toBeLessThan(RING_LIMIT_MS)
      await eventually(() => expect(doorbellOf(queue)).toBe('failing'))
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await ringUntilSeen(queue, seen, 'after')
  })

  test('rings fast after Redis was killed, and doorbell and worker recover on an empty new one', async () => {
    const { count, rings } = recorder()
    const queue = stack.use(await connectQueue({ redisUrl: await start(), count }))
    const seen = worked(queue)
    await ringUntilSeen(queue, seen, 'before')
    await signal('SIGKILL')
    const times: number[] = []
    for (let index = 0; index < 40; index += 1) times.push(await timedRing(queue, `gone_${index}`))
    expect(Math.max(...times)).toBeLessThan(RING_LIMIT_MS)
    expect(doorbellOf(queue)).toBe('failing')
    expect(rings()['failed']).toBeGreaterThan(30)
    await Promise.all(Array.from({ length: 100 }, (_, index) => timedRing(queue, `burst_${index}`)))
    expect(rings()['dropped']).toBe(84)
    await start()
    await ringUntilSeen(queue, seen, 'after')
  })

  test('an idle worker takes jobs within 5 s of the end of an outage of more than 10 s', async () => {
    const { log, lines } = recorder()
    const redisUrl = await start()
    const consumer = stack.use(await connectQueue({ redisUrl, log }))
    const seen = worked(consumer)
    await eventually(() => expect(consumer.state().workers[0]?.state).toBe('working'))
    await signal('SIGKILL')
    const told = 'warn The worker cannot reach its queue'
    await eventually(() => expect(lines()).toEqual([told, told]), { deadlineMs: 15_000 })
    await start()
    await using producer = await connectQueue({ redisUrl })
    await producer.ring('deliver_webhook', { delivery_id: 'woken' })
    await eventually(() => expect(seen).toEqual(['woken']), { deadlineMs: 5_000 })
  })

  test('a job under way when Redis dies is finished, and its worker goes on', async () => {
    const queue = stack.use(await connectQueue({ redisUrl: await start() }))
    const release = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const seen: string[] = []
    queue.work('deliver_webhook', async ({ delivery_id }) => {
      started.resolve()
      if (delivery_id === 'first') await release.promise
      seen.push(delivery_id)
    })
    await queue.ring('deliver_webhook', { delivery_id: 'first' })
    await started.promise
    await signal('SIGKILL')
    release.resolve()
    await eventually(() => expect(seen).toEqual(['first']))
    await start()
    await ringUntilSeen(queue, seen, 'second')
  })

  test('a full Redis refuses rings, and they arrive again when there is room', async () => {
    const redisUrl = await start()
    const queue = stack.use(await connectQueue({ redisUrl }))
    const seen = worked(queue)
    await ringUntilSeen(queue, seen, 'before')
    await using admin = connectAdmin(redisUrl)
    await admin.config('SET', 'maxmemory', '1')
    expect(await timedRing(queue, 'full')).toBeLessThan(RING_LIMIT_MS)
    await eventually(() => expect(doorbellOf(queue)).toBe('failing'))
    await admin.config('SET', 'maxmemory', '0')
    await ringUntilSeen(queue, seen, 'after')
  })

  test('disposing is bounded while Redis is frozen', async () => {
    const queue = await connectQueue({ redisUrl: await start(), drainMs: 500 })
    const seen = worked(queue)
    await ringUntilSeen(queue, seen, 'before')
    const pid = await pidOf(`redis://127.0.0.1:${port}`)
    process.kill(pid, 'SIGSTOP')
    try {
      await queue.ring('deliver_webhook', { delivery_id: 'frozen' })
      const before = performance.now()
      await queue[Symbol.asyncDispose]()
      expect(performance.now() - before).toBeLessThan(3_000)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  })

  test('warns of a Redis that evicts, and refuses it when asked to', async () => {
    const redisUrl = await start()
    await using admin = connectAdmin(redisUrl)
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const { log, lines } = recorder()
    stack.use(await connectQueue({ redisUrl, log }))
    expect(lines()).toEqual(['warn Redis may lose jobs: set maxmemory-policy to noeviction'])
    await expect(connectQueue({ redisUrl, evicting: 'refuse' })).rejects.toThrow(EvictingRedis)
  })
})
