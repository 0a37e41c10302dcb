import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { bootstrapLocalAccount, openAccountKeys, systemSecret } from '@keelson/identity'
import { freePort, startPostgres } from '@keelson/local-stack'
import { createKeyFile } from '@keelson/secrets'

const ROOT = resolve(import.meta.dirname, '../..')

export const VICTIMS = ['agent-api', 'webhook-worker', 'redis', 'agent'] as const
export type Victim = (typeof VICTIMS)[number]

/** One request that reached the agent, and what it was answered. */
export type Receipt = { delivery: string; attempt: number; status: number }

/** A process that is started again after it was killed. */
const restartable = (command: string, args: string[], env: NodeJS.ProcessEnv, isUp: () => Promise<boolean>) => {
  let child: ChildProcess
  const start = async () => {
    child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    while (!(await isUp().catch(() => false))) {
      if (child.exitCode !== null) child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
      await delay(50)
    }
  }
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return { start, kill }
}

/** An agent that answers every tenth request with an error, and whose connections can be cut. */
const startAgent = async (port: number) => {
  const receipts: Receipt[] = []
  let server: Server
  const start = async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => {
        const status = Math.random() < 0.1 ? 500 : 200
        const { 'x-github-delivery': delivery, 'x-keelson-attempt': attempt } = request.headers
        receipts.push({ delivery: String(delivery), attempt: Number(attempt), status })
        response.writeHead(status).end()
      })
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const kill = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  await start()
  return { receipts, start, kill }
}

const answers = (url: string) => async () => (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok

/** agent-api, its worker, Redis and an agent, each of which can be killed and comes back. */
export const crashStack = async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson webhooks '))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  // A copy, because somebody may build while this runs.
  await cp(join(ROOT, 'apps/agent-api/dist'), join(directory, 'dist'), { recursive: true })
  const { url: DATABASE_URL } = stack.use(
    await startPostgres({ directory: join(directory, 'postgres'), durable: true }),
  )
  await migrate(DATABASE_URL)
  const KEY_FILE = join(directory, 'keys')
  await createKeyFile(KEY_FILE)
  const db = stack.use(connect({ url: DATABASE_URL, applicationName: 'crash test', maxConnections: 2 }))
  const pepper = await systemSecret(await openAccountKeys(db, { KEY_FILE }), 'api-key.pepper')
  const { api_key } = await bootstrapLocalAccount(db, pepper)
  const [redisPort, agentPort] = [await freePort(), await freePort()]
  const shared = {
    DATABASE_URL,
    KEY_FILE,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    METRICS_PORT: '0',
    LOG_LEVEL: 'fatal',
    ALLOW_DATABASE_OWNER: 'true',
    ALLOW_PRIVATE_AGENTS: 'true',
  }
  const service = async (entry: string) => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = { ...process.env, ...shared, PORT: String(port) }
    const file = join(directory, 'dist', entry)
    return { url, ...restartable(process.execPath, [file], env, answers(`${url}/healthz`)) }
  }
  const agent = await startAgent(agentPort)
  const redisArgs = ['--port', String(redisPort), '--save', '', '--dir', directory, '--maxmemory-policy', 'noeviction']
  const processes = {
    redis: restartable('redis-server', redisArgs, process.env, async () => (await delay(200), true)),
    'agent-api': await service('main.js'),
    'webhook-worker': await service('webhook-worker.js'),
    agent,
  }
  for (const victim of ['redis', 'agent-api', 'webhook-worker'] as const) {
    stack.defer(() => processes[victim].kill())
    await processes[victim].start()
  }
  stack.defer(agent.kill)
  const owned = stack.move()
  return {
    db,
    api_key,
    url: processes['agent-api'].url,
    agentUrl: `http://127.0.0.1:${agentPort}`,
    receipts: agent.receipts,
    crash: async (victim: Victim, awayMs: number) => {
      await processes[victim].kill()
      await delay(awayMs)
      await processes[victim].start()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
