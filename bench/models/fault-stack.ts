import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { platformRoutes } from '@keelson/contracts/platform'
import { createClient } from '@keelson/contracts/client'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { bootstrapLocalAccount, openAccountKeys, systemSecret } from '@keelson/identity'
import { createServiceUser } from '@keelson/local-stack'
import { connectQueue, migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { startSimulator } from '@keelson/vendor-simulator'
import { supervisedPostgres, supervisedRedis } from '../spans/supervised.ts'
import { startFaultProcess, type FaultProcess } from './fault-process.ts'
import { wiring, type ProcessName } from './wiring.ts'

/** The vendor lives a hundred times as fast, and so the deployer's patience is short. */
export const PATIENCE = {
  POLL_MIN: '20ms',
  POLL_MAX: '200ms',
  CONFIRM_TIME: '20ms',
  RETRY_MAX: '1s',
  LEASE: '1s',
  SETTLE_TIME: '2s',
  VENDOR_CACHE_TIME: '150ms',
  VENDOR_REQUEST_TIMEOUT: '400ms',
  SWEEP_INTERVAL: '200ms',
  DEPLOYMENT_TIMEOUT: '60s',
  QUEUEING_TIMEOUT: '60s',
  TEARDOWN_TIMEOUT: '60s',
}

export type Victim = ProcessName | 'redis' | 'postgres'

export type FaultStackChoice = {
  queue: 'redis' | 'postgres'
  processes?: readonly ProcessName[]
  patience?: Partial<typeof PATIENCE>
}

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

/** platform-api and deployers from their bundles, a Postgres, a Redis and a simulated vendor; all talk over wires. */
export const faultStack = async (choice: FaultStackChoice) => {
  const { queue, processes = ['platform-api', 'deployer'], patience = {} } = choice
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson faults '))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await supervisedPostgres(join(directory, 'postgres')))
  const redis = queue === 'redis' ? stack.use(await supervisedRedis(directory)) : null
  const simulator = stack.use(await startSimulator({ timeScale: 100, seed: 1, journalLimit: 100_000 }))
  const db = stack.use(connect({ url: postgres.url, applicationName: 'faults', maxConnections: 4 }))
  const shared = await prepare(postgres.url, directory, db)
  const wires = wiring(stack)
  const ports = { postgres: postgres.port, redis: redis?.port ?? null, vendor: simulator.port }
  const behind = { ...shared, directory, wires, ports, settings: { ...PATIENCE, ...patience } }
  const running = new Map<Victim, FaultProcess>()
  for (const name of processes) running.set(name, stack.use(await startFaultProcess(name, behind)))

  const processOf = (name: Victim): FaultProcess => {
    const found = running.get(name)
    if (!found) throw new Error(`${name} does not run`)
    return found
  }
  const supervised = (victim: Victim) => {
    if (victim === 'postgres') return postgres
    return victim === 'redis' && redis ? redis : processOf(victim)
  }
  const headers = { 'x-api-key': shared.api_key }
  const queueAt = {
    databaseUrl: postgres.url,
    redisUrl: redis === null ? undefined : `redis://127.0.0.1:${redis.port}`,
  }
  const bell = stack.use(await connectQueue(queueAt))
  const owned = stack.move()
  return {
    ...shared,
    db,
    simulator,
    queueAt,
    platform: createClient(platformRoutes, { baseUrl: processOf('platform-api').url, headers }),
    setTrap: wires.setTrap,
    kill: (victim: Victim) => supervised(victim).kill(),
    restart: (victim: Victim) => supervised(victim).restart(),
    /** Rings for every deployment under way, so many times. */
    ringForAll: async (times: number): Promise<void> => {
      const rows = await db.sql<{ account_id: string; deployment_id: string }[]>`
        select account_id, id as deployment_id from platform.deployments where finished_at is null`
      // With different delays: equal rings that wait become one.
      const rings = rows.flatMap((row) => Array.from({ length: times }, (_, delayMs) => ({ row, delayMs })))
      await Promise.all(rings.map(({ row, delayMs }) => bell.ring('advance_deployment', row, { delayMs })))
    },
    /** Every deployment under way is out of time. */
    endTheTime: async (): Promise<void> => {
      await db.sql`
        update platform.deployments set created_at = created_at - interval '1 hour',
          deadline = case when accepted_at is not null then now() end
        where finished_at is null`
    },
    signal: (name: ProcessName, signal: 'SIGSTOP' | 'SIGCONT') => process.kill(processOf(name).pid(), signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export type FaultStack = Awaited<ReturnType<typeof faultStack>>
