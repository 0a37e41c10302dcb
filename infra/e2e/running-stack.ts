import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keelson/contracts/client'
import { agentRoutes } from '@keelson/contracts/agent'
import { platformRoutes } from '@keelson/contracts/platform'
import {
  createServiceUser,
  freePort,
  METRICS_OFFSET,
  SERVICES,
  startService,
  waitUntilReady,
} from '@keelson/local-stack'
import type { KeptProcess, ServiceName, StackEnvironment } from '@keelson/local-stack'
import { bootstrapLocalAccount, openAccountKeys, systemSecret } from '@keelson/identity'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { testDatabase } from '@keelson/testing'
import { startSimulator } from '@keelson/vendor-simulator'
import { ROOT } from './run-start.ts'

export type StackChoice = {
  services: readonly ServiceName[]
  /** Left out, the queue is in Postgres. */
  redisUrl?: string | undefined
  /** Settings on top of the local stack's, by service. */
  settings?: Partial<Record<ServiceName, Record<string, string>>>
}

/** The simulated vendor lives a hundred times as fast, and so must the deployer's patience. */
export const QUICK_DEPLOYER = {
  POLL_MIN: '20ms',
  POLL_MAX: '100ms',
  CONFIRM_TIME: '20ms',
  SETTLE_TIME: '2s',
  VENDOR_CACHE_TIME: '150ms',
  LEASE: '2s',
  VENDOR_REQUEST_TIMEOUT: '900ms',
  SWEEP_INTERVAL: '200ms',
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`

/** Services from their bundles, as processes on a database of their own, and clients with a key that works. */
export const runningStack = async ({ services, redisUrl, settings = {} }: StackChoice) => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-e2e-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const database = stack.use(await testDatabase())
  await migrateQueue(database.url)
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  const ports = await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const))
  const environment: StackEnvironment = {
    database_url: await createServiceUser(database.url),
    owns_database: false,
    redis_url: redisUrl,
    key_file,
    port: Object.fromEntries(ports) as Record<ServiceName, number>,
  }
  const accountKeys = await openAccountKeys(database.db, { KEY_FILE: key_file })
  const pepper = await systemSecret(accountKeys, 'api-key.pepper')
  const { account_id, api_key } = await bootstrapLocalAccount(database.db, pepper)

  const simulator = stack.use(await startSimulator({ timeScale: 100, seed: 1 }))
  const vendors = { LLM_ENGINE_URL: simulator.url, LAUNCH_URL: simulator.url }

  const running = new Map<ServiceName, KeptProcess>()
  const printed: string[] = []
  stack.defer(async () => void (await Promise.all([...running.values()].map((one) => one.stop()))))

  /** Starts a service, or starts it again. */
  const start = async (name: ServiceName): Promise<void> => {
    const service = SERVICES.find((one) => one.name === name)
    if (!service) throw new Error(`there is no service ${name}`)
    const env = (given: StackEnvironment) => ({ ...service.env(given), ...vendors, ...settings[name] })
    const started = startService(ROOT, { ...service, env }, environment)
    for (const stream of [started.stdout, started.stderr]) stream?.on('data', (piece) => printed.push(String(piece)))
    running.set(name, started)
    await waitUntilReady(service, environment, AbortSignal.timeout(30_000))
  }
  for (const name of services) await start(name)

  const at = (name: ServiceName) => urlOf(environment.port[name])
  const platform = createClient(platformRoutes, { baseUrl: at('platform-api'), headers: { 'x-api-key': api_key } })
  const agent = createClient(agentRoutes, { baseUrl: at('agent-api'), headers: { authorization: `Bearer ${api_key}` } })
  const owned = stack.move()
  return {
    account_id,
    api_key,
    db: database.db,
    platform,
    agent,
    simulator,
    at,
    metricsAt: (name: ServiceName) => `${urlOf(environment.port[name] + METRICS_OFFSET)}/metrics`,
    /** What the services have printed so far, in pieces. */
    printed,
    start,
    stop: async (name: ServiceName) => await running.get(name)?.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
