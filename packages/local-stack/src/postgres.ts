import { closeSync, openSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join, resolve as resolvePath } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { commandOf } from './command-of.ts'
import { freePort, isPortFree } from './free-port.ts'
import { keepProcess, type Exit, type KeptProcess } from './kept-process.ts'
import { postgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { openCluster, type Cluster } from './postgres-cluster.ts'

const START_DEADLINE_MS = 60_000

export type EmbeddedPostgres = AsyncDisposable & {
  /** Connection string of the database `keelson`, password included. */
  url: string
  port: number
  /** The postmaster's process id. */
  pid: number
  /** Resolves when the server has ended, by itself or because it was disposed. */
  exited: Promise<Exit>
}

const postmasterPid = async (data: string) => {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  return Number(text.split('\n', 1)[0]) || null
}

// A dead postmaster's pid file is Postgres's own business (it also looks for surviving backends). It cannot tell
// that the number now belongs to another program, nor stop a server of an earlier run that is still alive.
const clearEarlierRun = async (data: string) => {
  const pid = await postmasterPid(data)
  const command = pid === null ? '' : await commandOf(pid)
  if (pid === null || command === '') return
  if (!command.includes(data)) return rm(join(data, 'postmaster.pid'))
  process.kill(pid, 'SIGINT')
  const deadline = Date.now() + START_DEADLINE_MS
  while (await commandOf(pid)) {
    if (Date.now() > deadline)
      throw new Error(`A Postgres of an earlier run (process ${pid}) still uses ${data} and does not stop`)
    await delay(50)
  }
}

const settings = (durable: boolean, port: number) => {
  const values = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
  values.push('timezone=UTC', 'log_timezone=UTC')
  // Statements of an empty table are planned for one that stays small, until it is analysed: by default in a minute.
  if (durable) values.push('autovacuum_naptime=5s')
  else values.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off')
  return values.flatMap((value) => ['-c', value])
}

const launch = (binaries: PostgresBinaries, cluster: Cluster, durable: boolean, port: number) => {
  const output = openSync(cluster.log, 'w', 0o600)
  try {
    const command = [...binaries.prefix, binaries.postgres, '-D', cluster.data, ...settings(durable, port)]
    return keepProcess(command, {
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
      stopSignal: 'INT',
      output,
    })
  } finally {
    closeSync(output)
  }
}

const ready = async (server: KeptProcess, log: string) => {
  let exit: Exit | null = null
  void server.exited.then((value) => (exit = value))
  const deadline = Date.now() + START_DEADLINE_MS
  while (true) {
    const said = await readFile(log, 'utf8')
    if (said.includes('ready to accept connections')) return
    if (exit !== null || Date.now() > deadline) {
      const { reason } = await server.stop()
      throw new Error(
        `Postgres ${exit === null ? 'did not become ready' : reason}; its log (${log}) ends:\n${said.trim().split('\n').slice(-8).join('\n')}`,
      )
    }
    await delay(10)
  }
}

/**
 * Starts an embedded Postgres on 127.0.0.1 and waits until it takes connections. Data, password and log are kept in
 * `directory` and used again at the next start. It stops with this process, even when this process is killed.
 *
 * @param options.port a fixed port; any free one when absent
 * @param options.durable `false` switches fsync off: for tests only
 * @throws when the port is taken, the platform has no binaries, or the server does not start (with the end of its log)
 */
export const startPostgres = async (options: {
  directory: string
  port?: number
  durable: boolean
}): Promise<EmbeddedPostgres> => {
  if (options.port !== undefined && !(await isPortFree(options.port)))
    throw new Error(`Port ${options.port} for Postgres is already in use`)
  const binaries = await postgresBinaries()
  const cluster = await openCluster(binaries, resolvePath(options.directory), options.durable)
  await clearEarlierRun(cluster.data)
  const port = options.port ?? (await freePort())
  const server = launch(binaries, cluster, options.durable, port)
  await ready(server, cluster.log)
  const pid = await postmasterPid(cluster.data)
  if (pid === null) throw new Error(`Postgres left no process id in ${cluster.data}`)
  return {
    url: cluster.url(port),
    port,
    pid,
    exited: server.exited,
    [Symbol.asyncDispose]: async () => void (await server.stop(30_000)),
  }
}
