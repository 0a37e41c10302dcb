import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { createServiceUser } from '@keelson/local-stack'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { controlClient } from '@keelson/vendor-simulator/control-client'
import { installDeploymentLog } from '../deployment-log.ts'
import type { History } from '../history.ts'
import { CANARIES, issueAccounts } from './accounts.ts'
import { startAgent } from './agent.ts'
import { copyBundles } from './bundles.ts'
import { choosePorts, processStarter, urlAt } from './launch.ts'
import { startPostgresVictim } from './postgres.ts'
import type { Victim } from './process.ts'
import { startProxy, type Proxy } from './proxy.ts'
import { startRedisVictim } from './redis.ts'
import type { ProcessName } from './services.ts'

/** Links by the names of who calls whom, each through a proxy of its own. */
const linker = (stack: AsyncDisposableStack) => {
  const links = new Map<string, Proxy>()
  const link = async (from: string, to: string, port: number): Promise<number> => {
    const proxy = stack.use(await startProxy(port))
    links.set(`${from} -> ${to}`, proxy)
    return proxy.port
  }
  return { links, link }
}

/** The stores with everything in them that services need, and two accounts. */
const openStores = async (stack: AsyncDisposableStack, directory: string) => {
  const postgres = await startPostgresVictim(join(directory, 'postgres'))
  stack.defer(postgres.postmaster.stop)
  await migrate(postgres.url)
  await migrateQueue(postgres.url)
  const db = stack.use(connect({ url: postgres.url, applicationName: 'chaos', maxConnections: 4 }))
  await installDeploymentLog(db)
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  const accounts = await issueAccounts(db, key_file)
  const redis = await startRedisVictim(directory)
  stack.defer(redis.victim.stop)
  return { postgres, redis, db, key_file, accounts }
}

type Options = { bundles: string; processes: readonly ProcessName[]; history: History; random: () => number }

/**
 * Everything as processes on a durable Postgres and a Redis without persistence, each connection between two of them
 * through a proxy. The directory with all logs stays when the history holds a violation.
 */
export const startStack = async ({ bundles, processes, history, random }: Options) => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-chaos-'))
  let isStarted = false
  stack.defer(async () => {
    if (isStarted && history.violations.length === 0) await rm(directory, { recursive: true, force: true })
  })
  await copyBundles(bundles, directory)
  const { postgres, redis, db, key_file, accounts } = await openStores(stack, directory)
  const { links, link } = linker(stack)
  const port = await choosePorts()
  const serviceUrl = await createServiceUser(postgres.url)
  const start = processStarter({ directory, key_file, port, link, serviceUrl, postgres, redis, history })
  const victims = new Map<string, Victim>([
    ['postgres', postgres.postmaster],
    ['redis', redis.victim],
  ])
  const add = async (name: ProcessName | 'vendor-simulator') => {
    const victim = await start(name)
    stack.defer(victim.stop)
    victims.set(name, victim)
  }
  await add('vendor-simulator')
  await Promise.all(processes.map(add))
  const agent = stack.use(await startAgent(CANARIES, random))
  const agentUrl = urlAt(await link('webhook-worker', 'agent', agent.port))
  const platformUrl = urlAt(await link('client', 'platform-api', port['platform-api']))
  const agentApiUrl = urlAt(await link('client', 'agent-api', port['agent-api']))
  isStarted = true
  const owned = stack.move()
  return {
    directory,
    db,
    accounts,
    victims,
    links,
    platformUrl,
    agentApiUrl,
    agentUrl,
    receipts: agent.receipts,
    vendor: controlClient(urlAt(port['vendor-simulator'])),
    killBackend: postgres.killBackend,
    emptyRedis: redis.empty,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export type Stack = Awaited<ReturnType<typeof startStack>>
