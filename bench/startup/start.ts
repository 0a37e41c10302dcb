import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { migrate } from '@keelson/database/migrate'
import { createServiceUser, freePort, SERVICES, type ServiceName, type StackEnvironment } from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { startBenchPostgres } from '../harness/postgres.ts'
import { silenced, supervisedService } from '../spans/supervised.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export type Supervised = Awaited<ReturnType<typeof supervisedService>>

/** Every service from its bundle on a Postgres of their own. */
export const startServices = async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson startup '))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const { url } = stack.use(await startBenchPostgres())
  await migrate(url)
  await migrateQueue(url)
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  const ports = await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const))
  const environment: StackEnvironment = {
    database_url: await createServiceUser(url),
    owns_database: false,
    redis_url: undefined,
    key_file,
    port: Object.fromEntries(ports) as Record<ServiceName, number>,
  }
  const running = new Map<ServiceName, Supervised>()
  for (const service of SERVICES.map(silenced))
    running.set(service.name, stack.use(await supervisedService(ROOT, service, environment)))
  const owned = stack.move()
  return { running, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
