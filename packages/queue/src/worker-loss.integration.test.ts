import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  eventually,
  startRedis,
  testDatabase,
  testRedis,
  type TestDatabase,
  type TestRedisServer,
} from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectQueue, migrateQueue } from './index.ts'
import { recorder } from './recorder.fixture.ts'

const LOCK_MS = 500
const FIXTURE = fileURLToPath(new URL('hanging-worker.fixture.ts', import.meta.url))

let redis: TestRedisServer | null
let database: TestDatabase

beforeAll(async () => {
  redis = await startRedis()
  database = await testDatabase()
  await migrateQueue(database.url)
})
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const backends = [
  { name: 'redis', skip: testRedis() === null, target: () => ({ redisUrl: redis?.url ?? '' }) },
  { name: 'postgres', skip: false, target: () => ({ databaseUrl: database.url }) },
]

for (const { name, skip, target } of backends) {
  describe.skipIf(skip)(`a queue on ${name}`, () => {
    /** A worker may begin before it is told whose job it has, so that the count comes after the handler now and then. */
    const takenByAnother = async (delivery_id: string) => {
      const { count, jobs } = recorder()
      await using queue = await connectQueue({ ...target(), count })
      const seen: string[] = []
      queue.work('deliver_webhook', async (payload) => void seen.push(payload.delivery_id), { lockMs: LOCK_MS })
      const isTaken = () => {
        expect(seen).toEqual([delivery_id])
        expect(jobs()).toHaveProperty('stalled')
      }
      await eventually(isTaken, { deadlineMs: 15_000 })
      return jobs()
    }

    test('disposing gives up on a handler that hangs, and another worker gets its job', async () => {
      const queue = await connectQueue({ ...target(), drainMs: 200 })
      const started = Promise.withResolvers<AbortSignal>()
      const hang = async (_: object, { signal }: { signal: AbortSignal }) => {
        started.resolve(signal)
        await new Promise(() => {})
      }
      queue.work('deliver_webhook', hang, { lockMs: LOCK_MS })
      await queue.ring('deliver_webhook', { delivery_id: 'hung' })
      const signal = await started.promise
      const before = performance.now()
      await queue[Symbol.asyncDispose]()
      expect(performance.now() - before).toBeLessThan(5_000)
      expect(signal.aborted).toBe(true)
      expect(await takenByAnother('hung')).toMatchObject({ stalled: 1 })
    })

    test('a job outlives two workers killed while they handled it', async () => {
      await using queue = await connectQueue(target())
      await queue.ring('deliver_webhook', { delivery_id: 'survivor' })
      for (let kill = 0; kill < 2; kill += 1) {
        const args = [FIXTURE, JSON.stringify(target()), String(LOCK_MS)]
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
        const exited = once(child, 'exit')
        await once(child.stdout, 'data')
        child.kill('SIGKILL')
        await exited
      }
      expect(await takenByAnother('survivor')).toMatchObject({ stalled: 1 })
    })
  })
}
