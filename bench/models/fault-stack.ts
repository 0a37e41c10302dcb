import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { platformRoutes } from '@keelson/contracts/platform'
import { createClient } from '@keelson/contracts/client'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { bootstrapLocalAccount, openAccountKeys, systemSecret } from '@keelson/identity'
import { createServiceUser, freePort, SERVICES, type ServiceName, type StackEnvironment } from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { startSimulator } from '@keelson/vendor-simulator'
import { supervisedPostgres, supervisedRedis, supervisedService } from '../spans/supervised.ts'
import { plainMessages, postgresMessages } from './messages.ts'
import { openWire, type Trap, type Wire } from './wire.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const HOST = 'http://127.0.0.1'

/** The vendor lives a hundred times as fast, and so the deployer's patience is short. */
export const PATIENCE = {
  POLL_MIN: '20ms',
  POLL_MAX: '200ms',
  CONFIRM_TIME: '20ms',
  RETRY_MAX: '1s',
  LEASE: '1s',
  SETTLE_TIME: '2s',
  VENDOR_REQUEST_TIMEOUT: '400ms',
  SWEEP_INTERVAL: '200ms',
  DEPLOYMENT_TIMEOUT: '60s',
  QUEUEING_TIMEOUT: '60s',
  TEARDOWN_TIMEOUT: '60s',
}

export const PROCESSES = ['platform-api', 'deployer', 'second deployer'] as const
export type ProcessName = (typeof PROCESSES)[number]
export type Victim = ProcessName | 'redis' | 'postgres'
/** Who talks to whom over a wire. */
export type Link = { from: ProcessName; to: 'postgres' | 'redis' | 'vendor' }

export type FaultStackChoice = {
  queue: 'redis' | 'postgres'
  processes?: readonly ProcessName[]
  patience?: Partial<typeof PATIENCE>
}

type Supervised = { kill: () => Promise<void>; restart: () => Promise<void> }
type SupervisedProcess = Supervised & { pid: () => number }

/** What all processes share, and a key. */
const prepare = async (postgresUrl: string, directory: string, db: ReturnType<typeof connect>) => {
  await migrate(postgresUrl)
  await migrateQueue(postgresUrl)
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  const pepper = await systemSecret(await openAccountKeys(db, { KEY_FILE: key_file }), 'api-key.pepper')
  const database_url = await createServiceUser(postgresUrl)
  return { key_file, database_url, ...(await bootstrapLocalAccount(db, pepper)) }
}

const portsOf = async () =>
  Object.fromEntries(await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const))) as Record<
    ServiceName,
    number
  >

const through = (url: string, wire: Wire): string => Object.assign(new URL(url), { port: String(wire.port) }).href

/** platform-api and deployers from their bundles, a Postgres, a Redis and a simulated vendor; all talk over wires. */
export const faultStack = async ({
  queue,
  processes = ['platform-api', 'deployer'],
  patience = {},
}: FaultStackChoice) => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson faults '))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await supervisedPostgres(join(directory, 'postgres')))
  const redis = queue === 'redis' ? stack.use(await supervisedRedis(directory)) : null
  const simulator = stack.use(await startSimulator({ timeScale: 100, seed: 1, journalLimit: 100_000 }))
  const db = stack.use(connect({ url: postgres.url, applicationName: 'faults', maxConnections: 4 }))
  const shared = await prepare(postgres.url, directory, db)

  const wires: (Link & { wire: Wire })[] = []
  const wireOf = async (from: ProcessName, to: Link['to'], port: number): Promise<Wire> => {
    const wire = stack.use(await openWire(port, to === 'postgres' ? postgresMessages : plainMessages))
    wires.push({ from, to, wire })
    return wire
  }

  const startProcess = async (name: ProcessName): Promise<SupervisedProcess & { port: number }> => {
    const service = SERVICES.find((one) => one.name === name.replace('second ', ''))!
    const copy = join(directory, name)
    const bundle = dirname(service.bundle)
    // A copy, because somebody may build while this runs, and because its path tells the process.
    await cp(join(ROOT, bundle), join(copy, bundle), { recursive: true })
    const environment: StackEnvironment = {
      database_url: through(shared.database_url, await wireOf(name, 'postgres', postgres.port)),
      redis_url: redis === null ? undefined : `redis://127.0.0.1:${(await wireOf(name, 'redis', redis.port)).port}`,
      owns_database: false,
      key_file: shared.key_file,
      port: await portsOf(),
    }
    const vendor = `${HOST}:${(await wireOf(name, 'vendor', simulator.port)).port}`
    const own = { LLM_ENGINE_URL: vendor, LAUNCH_URL: vendor, LOG_LEVEL: 'fatal', ...PATIENCE, ...patience }
    const env = (given: StackEnvironment) => ({ ...service.env(given), ...own })
    const port = environment.port[service.name]
    return { ...stack.use(await supervisedService(copy, { ...service, env }, environment)), port }
  }

  const running = new Map<ProcessName, SupervisedProcess & { port: number }>()
  for (const name of processes) running.set(name, await startProcess(name))
  const processOf = (name: ProcessName) => running.get(name) ?? Promise.reject(new Error(`${name} does not run`))
  const supervised = async (victim: Victim): Promise<Supervised> => {
    if (victim === 'postgres') return postgres
    return victim === 'redis' ? (redis ?? postgres) : processOf(victim)
  }

  const url = `${HOST}:${running.get('platform-api')?.port}`
  const owned = stack.move()
  return {
    ...shared,
    db,
    simulator,
    queueAt: { databaseUrl: postgres.url, redisUrl: redis === null ? undefined : `redis://127.0.0.1:${redis.port}` },
    platform: createClient(platformRoutes, { baseUrl: url, headers: { 'x-api-key': shared.api_key } }),
    /** The first message on any of these wires springs the trap; the handler is told on which. */
    setTrap: (
      isWire: (link: Link) => boolean,
      trap: Omit<Trap, 'spring'> & { spring: (link: Link) => ReturnType<Trap['spring']> },
    ) => {
      const chosen = wires.filter(isWire)
      const clear = () => chosen.forEach(({ wire }) => wire.set(null))
      for (const link of chosen) {
        const spring = () => {
          clear()
          return trap.spring(link)
        }
        link.wire.set({ ...trap, spring })
      }
      return clear
    },
    kill: async (victim: Victim) => (await supervised(victim)).kill(),
    restart: async (victim: Victim) => (await supervised(victim)).restart(),
    cut: (isWire: (link: Link) => boolean) => wires.filter(isWire).forEach(({ wire }) => wire.cut()),
    signal: async (name: ProcessName, signal: 'SIGSTOP' | 'SIGCONT') =>
      process.kill((await processOf(name)).pid(), signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export type FaultStack = Awaited<ReturnType<typeof faultStack>>
