import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { bootstrapLocalAccount, openAccountKeys, systemSecret } from '@keelson/identity'
import { freePort, SERVICES, type Service, type ServiceName, type StackEnvironment } from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { silenced, supervisedPostgres, supervisedService } from './supervised.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const AGENT_API = silenced(SERVICES.find(({ name }) => name === 'agent-api') as Service)

export type Victim = 'service' | 'postmaster' | 'backend'

const environmentOf = async (database_url: string, directory: string): Promise<StackEnvironment> => {
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  const ports = await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const))
  const port = Object.fromEntries(ports) as Record<ServiceName, number>
  return { database_url, redis_url: undefined, owns_database: true, key_file, port }
}

/** A durable Postgres and agent-api from its bundle, as processes that can be killed and come back. */
export const crashStack = async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson crash '))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  // A copy, because somebody may build while this runs.
  const bundle = dirname(AGENT_API.bundle)
  await cp(join(ROOT, bundle), join(directory, bundle), { recursive: true })
  const postgres = stack.use(await supervisedPostgres(directory))
  await migrate(postgres.url)
  await migrateQueue(postgres.url)
  const environment = await environmentOf(postgres.url, directory)
  const db = stack.use(connect({ url: postgres.url, applicationName: 'crash test', maxConnections: 2 }))
  const pepper = await systemSecret(await openAccountKeys(db, { KEY_FILE: environment.key_file }), 'api-key.pepper')
  const { api_key, account_id } = await bootstrapLocalAccount(db, pepper)
  const service = stack.use(await supervisedService(directory, AGENT_API, environment))
  const kill: Record<Victim, () => Promise<void>> = {
    service: service.killAndRestart,
    postmaster: postgres.killAndRestart,
    backend: postgres.killBackend,
  }
  const owned = stack.move()
  return {
    db,
    account_id,
    api_key,
    url: `http://127.0.0.1:${environment.port['agent-api']}`,
    servicePid: service.pid,
    postgresPids: postgres.pids,
    stopService: service.stop,
    kill: (victim: Victim) => kill[victim](),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export type CrashStack = Awaited<ReturnType<typeof crashStack>>
