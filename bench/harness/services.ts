import { openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { identityStore, openAccountKeys, systemSecret } from '@keelson/identity'
import {
  createServiceUser,
  freePort,
  keepProcess,
  NODE_ENVIRONMENT,
  NODE_FLAGS,
  SERVICES,
  waitUntilReady,
  type Service,
  type ServiceName,
  type StackEnvironment,
} from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { startBenchPostgres } from './postgres.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export type RunningServices = AsyncDisposable & {
  url: Record<ServiceName, string>
  metricsUrl: Record<ServiceName, string>
  /** Where V8 can be asked for its heap. */
  inspectorUrl: Record<ServiceName, string>
  /** A key of each account, which may do everything. */
  keys: readonly string[]
}

const METRICS_OFFSET = 1000
const INSPECTOR_OFFSET = 2000

const urlsOf = (port: Record<ServiceName, number>, offset = 0) =>
  Object.fromEntries(Object.entries(port).map(([name, at]) => [name, `http://127.0.0.1:${at + offset}`])) as Record<
    ServiceName,
    string
  >

const choosePorts = async () => {
  const chosen = new Set<number>()
  while (chosen.size < SERVICES.length) chosen.add(await freePort())
  const ports = [...chosen]
  return Object.fromEntries(SERVICES.map(({ name }, index) => [name, ports[index]])) as Record<ServiceName, number>
}

const issueKeys = async (url: string, KEY_FILE: string, accounts: number): Promise<string[]> => {
  await using db = connect({ url, applicationName: 'bench', maxConnections: 2 })
  const pepper = await systemSecret(await openAccountKeys(db, { KEY_FILE }), 'api-key.pepper')
  const store = identityStore(db, pepper)
  const issue = async (_: unknown, n: number) => {
    const { account_id } = await store.createAccount(`account ${n}`)
    const { id: identity_id } = await store.createIdentity({ account_id, type: 'user', name: 'bench' })
    return (await store.issueKey({ account_id, identity_id, name: 'bench' })).token
  }
  return await Promise.all(Array.from({ length: accounts }, issue))
}

/**
 * The services as operators run them, each a process with its own log, on a durable Postgres of their own.
 *
 * @param options.settings on top of the local stack's, for every service
 */
export const startServices = async (
  names: readonly ServiceName[],
  { settings = {}, accounts = 1 }: { settings?: Record<string, string>; accounts?: number } = {},
): Promise<RunningServices> => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startBenchPostgres())
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  await migrate(postgres.url)
  await migrateQueue(postgres.url)
  const port = await choosePorts()
  const database_url = await createServiceUser(postgres.url)
  const environment: StackEnvironment = { database_url, owns_database: false, redis_url: undefined, key_file, port }

  const start = async (service: Service): Promise<void> => {
    const { name } = service
    const file = join(ROOT, service.bundle.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
    const env = {
      PATH: process.env['PATH'],
      ...NODE_ENVIRONMENT,
      HOST: '127.0.0.1',
      PORT: String(port[name]),
      METRICS_PORT: String(port[name] + METRICS_OFFSET),
      ...service.env(environment),
      ...settings,
    }
    const command = [process.execPath, ...NODE_FLAGS, `--inspect=127.0.0.1:${port[name] + INSPECTOR_OFFSET}`, file]
    const log = join(directory, `${name}.log`)
    const running = keepProcess(command, { env, stopSignal: 'TERM', output: openSync(log, 'w') })
    stack.defer(async () => void (await running.stop()))
    const ended = running.exited.then(async ({ reason }) => {
      throw new Error(`${name} ${reason}\n${await readFile(log, 'utf8')}`)
    })
    await Promise.race([waitUntilReady(service, environment, AbortSignal.timeout(60_000)), ended])
    ended.catch(() => {})
  }
  await Promise.all(SERVICES.filter(({ name }) => names.includes(name)).map(start))
  const keys = await issueKeys(postgres.url, key_file, accounts)
  const owned = stack.move()
  return {
    url: urlsOf(port),
    metricsUrl: urlsOf(port, METRICS_OFFSET),
    inspectorUrl: urlsOf(port, INSPECTOR_OFFSET),
    keys,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
