import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@keelson/database/migrate'
import { startPostgres } from '@keelson/local-stack'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { startRedis } from './redis.ts'
import { databaseUrl, TEMPLATE } from './services.ts'

const prepareTemplate = async (server: string) => {
  const admin = postgres(server, { max: 1, onnotice: () => {} })
  await admin`create database ${admin(TEMPLATE)}`
  await admin.end()
  await migrate(databaseUrl(server, TEMPLATE))
}

const start = async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const redis = process.env['REDIS_URL'] ? null : await startRedis()
  if (redis !== null) stack.use(redis)
  const server = stack.use(await startPostgres({ directory, durable: false }))
  await prepareTemplate(server.url)
  const redisUrl = process.env['REDIS_URL'] ?? redis?.url ?? ''
  if (redisUrl === '')
    process.stdout.write('No redis-server on the PATH and no REDIS_URL: tests on Redis are skipped\n')
  return {
    services: { databaseUrl: server.url, redisUrl, redisDirectory: redis?.directory ?? '' },
    owned: stack.move(),
  }
}

// Two vitest projects name this file; they share one set of services.
const shared = globalThis as { keelsonTestServices?: { started: ReturnType<typeof start>; users: number } }

/** Vitest's global setup: one non-durable Postgres with a migrated template database, and one Redis. */
export const setup = async (project: TestProject) => {
  const current = (shared.keelsonTestServices ??= { started: start(), users: 0 })
  current.users += 1
  project.provide('services', (await current.started).services)
}

export const teardown = async () => {
  const current = shared.keelsonTestServices
  if (current === undefined || --current.users > 0) return
  delete shared.keelsonTestServices
  await (await current.started).owned.disposeAsync()
}
