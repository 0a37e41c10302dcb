import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect, type Database } from '@keelson/database'
import { freePort, keepProcess, startPostgres } from '@keelson/local-stack'

const run = promisify(execFile)
const NOBODY = 65_534
const DEBIAN = '/usr/lib/postgresql'

export type Sql = Database['sql']

export type BenchPostgres = AsyncDisposable & {
  url: string
  /** A connection that may change settings. */
  sql: Sql
}

type Server = AsyncDisposable & { url: string }

/** The newest installed server: a benchmark is about the Postgres people run, rather than the embedded one. */
const installed = async (): Promise<string | null> => {
  const versions = await readdir(DEBIAN).catch(() => [])
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0]
  return newest === undefined ? null : join(DEBIAN, newest, 'bin')
}

/** As the server names itself, with where it comes from. */
export const postgresVersion = async (): Promise<string> => {
  const bin = await installed()
  if (bin === null) return 'as embedded'
  const { stdout } = await run(join(bin, 'postgres'), ['--version'])
  return stdout.trim().replace(/^postgres \(PostgreSQL\) /, '')
}

const asNobody = (): string[] =>
  process.getuid?.() === 0 ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []

/** Compiles the shim that slows fsync down. */
const slowFsync = async (directory: string): Promise<string> => {
  const library = join(directory, 'slow-fsync.so')
  await run('cc', ['-shared', '-fPIC', '-O2', '-o', library, join(import.meta.dirname, 'slow-fsync.c'), '-ldl'])
  await chmod(library, 0o755)
  return library
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=1GB',
  'max_wal_size=8GB',
  'checkpoint_timeout=30min',
  'fsync=on',
  'full_page_writes=on',
  'synchronous_commit=on',
  'shared_preload_libraries=pg_stat_statements',
]

const startInstalled = async (bin: string, directory: string, slowFsyncUs: number): Promise<Server> => {
  if (process.getuid?.() === 0) await chown(directory, NOBODY, NOBODY)
  const data = join(directory, 'data')
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }
  const [initdb, ...initArgs] = [...asNobody(), join(bin, 'initdb'), '-D', data]
  await run(initdb, [...initArgs, '-U', 'keelson', '-A', 'trust', '-E', 'UTF8'], { env, cwd: '/' })
  const library = slowFsyncUs === 0 ? {} : { LD_PRELOAD: await slowFsync(directory), SLOW_FSYNC_US: `${slowFsyncUs}` }
  const port = await freePort()
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting])
  const server = keepProcess([...asNobody(), join(bin, 'postgres'), '-D', data, ...settings], {
    env: { ...env, ...library },
    cwd: '/',
    stopSignal: 'INT',
    output: openSync(join(directory, 'postgres.log'), 'w'),
  })
  const url = `postgres://keelson@127.0.0.1:${port}/postgres`
  return { url, [Symbol.asyncDispose]: async () => void (await server.stop(30_000)) }
}

const untilReady = async (sql: Sql): Promise<void> => {
  const deadline = performance.now() + 30_000
  while (
    await sql`select 1`.then(
      () => false,
      () => true,
    )
  ) {
    if (performance.now() > deadline) throw new Error('Postgres did not become ready')
    await delay(100)
  }
}

/**
 * Starts a durable cluster of its own in a temporary directory, removed on dispose.
 *
 * @param options.slowFsyncUs makes every fsync take so much longer, in microseconds; needs an installed Postgres
 */
export const startBenchPostgres = async ({ slowFsyncUs = 0 } = {}): Promise<BenchPostgres> => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson bench '))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const bin = await installed()
  const { url } = stack.use(
    bin === null
      ? await startPostgres({ directory, durable: true })
      : await startInstalled(bin, directory, slowFsyncUs),
  )
  const { sql } = stack.use(connect({ url, applicationName: 'bench', maxConnections: 2, statementTimeoutMs: 600_000 }))
  await untilReady(sql)
  if (bin !== null) {
    await sql`alter system set pg_stat_statements.track = 'none'`
    await sql`select pg_reload_conf()`
    await sql`create extension pg_stat_statements`
  }
  const owned = stack.move()
  return { url, sql, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
