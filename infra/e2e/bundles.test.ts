import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  createServiceUser,
  SERVICES,
  startService,
  waitUntilReady,
  type ServiceName,
  type StackEnvironment,
} from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { freePort, testDatabase } from '@keelson/testing'
import { expect, test } from 'vitest'
import { ROOT } from './run-start.ts'

const temporaryDirectory = async () => {
  const path = await mkdtemp(join(tmpdir(), 'keelson bundle '))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

const environment = async (databaseUrl: string, directory: string): Promise<StackEnvironment> => {
  const ports = await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const))
  await migrateQueue(databaseUrl)
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  return {
    database_url: await createServiceUser(databaseUrl),
    owns_database: false,
    redis_url: undefined,
    key_file,
    port: Object.fromEntries(ports) as Record<ServiceName, number>,
  }
}

test.each(SERVICES.map((service) => [service.name, service] as const))(
  '%s becomes ready from its bundle alone, in a directory without node_modules, and ends with 0 on SIGTERM',
  async (_name, service) => {
    await using directory = await temporaryDirectory()
    await using database = await testDatabase()
    const bundle = dirname(service.bundle)
    await cp(join(ROOT, bundle), join(directory.path, bundle), { recursive: true })
    const stack = await environment(database.url, directory.path)
    const running = startService(directory.path, service, stack)
    const giveUp = new AbortController()
    void running.exited.then(({ reason }) => giveUp.abort(new Error(`${service.name} ${reason}`)))
    await waitUntilReady(service, stack, giveUp.signal).catch(async (error: unknown) => {
      await running.stop()
      throw error
    })
    expect(await running.stop()).toEqual({ code: 0, reason: 'exited with code 0' })
  },
)
