import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityStore, openAccountKeys, systemSecret, type IdentityStore } from '@keelson/identity'
import {
  createServiceUser,
  METRICS_OFFSET,
  SERVICES,
  startService,
  waitUntilReady,
  type ServiceName,
  type StackEnvironment,
} from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { freePort, testDatabase, testRedis, type TestDatabase } from '@keelson/testing'
import { ROOT } from './run-start.ts'

export type RunningServices = AsyncDisposable & {
  url: Record<ServiceName, string>
  metricsUrl: Record<ServiceName, string>
  database: TestDatabase
  /** A key that may do everything, of an account of its own. */
  key: string
  /** Of another account. */
  otherKey: string
  identities: IdentityStore
  /** Starts one more process of a service; resolves with its address. */
  addReplica: (name: ServiceName) => Promise<string>
}

export type RunningOptions = {
  /** On top of the local stack's, for every service. */
  settings?: Record<string, string>
  /** Makes the user that the services log in as, and answers its connection string. */
  logIn?: (ownerUrl: string) => Promise<string>
  /** `null`: the queue is in Postgres. */
  redisUrl?: string | null
}

const urlsOf = (port: Record<string, number>, offset = 0) =>
  Object.fromEntries(Object.entries(port).map(([name, at]) => [name, `http://127.0.0.1:${at + offset}`])) as Record<
    ServiceName,
    string
  >

const issueKeys = async ({ db }: TestDatabase, keyFile: string) => {
  const pepper = await systemSecret(await openAccountKeys(db, { KEY_FILE: keyFile }), 'api-key.pepper')
  const store = identityStore(db, pepper)
  const issue = async (name: string) => {
    const { account_id } = await store.createAccount(name)
    const { id: identity_id } = await store.createIdentity({ account_id, type: 'user', name })
    return (await store.issueKey({ account_id, identity_id, name })).token
  }
  return { key: await issue('first'), otherKey: await issue('second'), identities: store }
}

/**
 * The services as processes of their own on a database of their own, from their sources, so that nothing needs to be
 * built; ready when this resolves.
 */
export const runningServices = async (
  names: readonly ServiceName[],
  { settings = {}, logIn = createServiceUser, redisUrl = testRedis() }: RunningOptions = {},
): Promise<RunningServices> => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-services-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const database = stack.use(await testDatabase())
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  await migrateQueue(database.url)
  const port = Object.fromEntries(
    await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const)),
  ) as Record<ServiceName, number>
  const environment: StackEnvironment = {
    database_url: await logIn(database.url),
    owns_database: false,
    redis_url: redisUrl ?? undefined,
    key_file,
    port,
  }
  const services = SERVICES.filter(({ name }) => names.includes(name)).map((service) => ({
    ...service,
    bundle: service.bundle.replace('/dist/', '/src/').replace(/\.js$/, '.ts'),
    env: (given: StackEnvironment) => ({ ...service.env(given), ...settings }),
  }))
  const owned = new AsyncDisposableStack()
  stack.use(owned)
  const start = async (service: (typeof services)[number], at: StackEnvironment) => {
    const running = startService(ROOT, service, at)
    owned.defer(async () => void (await running.stop()))
    await waitUntilReady(service, at, AbortSignal.timeout(60_000))
  }
  await Promise.all(services.map((service) => start(service, environment)))
  const keys = await issueKeys(database, key_file)
  const whole = stack.move()
  return {
    url: urlsOf(port),
    metricsUrl: urlsOf(port, METRICS_OFFSET),
    database,
    ...keys,
    addReplica: async (name) => {
      const at = { ...environment, port: { ...port, [name]: await freePort() } }
      await start(
        services.find((service) => service.name === name)!,
        at,
      )
      return urlsOf(at.port)[name]
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  }
}
