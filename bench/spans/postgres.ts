import { execFile } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect } from '@keelson/database'
import { freePort, keepProcess } from '@keelson/local-stack'

const run = promisify(execFile)
const NOBODY = 65_534
const DEBIAN = '/usr/lib/postgresql'

export type BenchPostgres = AsyncDisposable & { url: string; version: string; directory: string }

/** The newest installed server; a benchmark is about the Postgres people run, not the embedded one. */
const binaries = async (): Promise<string> => {
  const versions = existsSync(DEBIAN) ? await readdir(DEBIAN) : []
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0]
  if (newest === undefined) throw new Error(`No Postgres below ${DEBIAN}: apt install postgresql`)
  return join(DEBIAN, newest, 'bin')
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
]

const accepts = async (url: string, log: string): Promise<string> => {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    await using db = connect({ url, applicationName: 'bench', maxConnections: 1 })
    try {
      const [row] = await db.sql<[{ version: string }]>`select current_setting('server_version') as version`
      return row.version
    } catch {
      await delay(100)
    }
  }
  throw new Error(`Postgres did not become ready; its log is ${log}`)
}

/** A durable cluster of its own in a temporary directory, removed on dispose. */
export const startBenchPostgres = async ({ slowFsyncUs }: { slowFsyncUs?: number } = {}): Promise<BenchPostgres> => {
  const bin = await binaries()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  if (process.getuid?.() === 0) await chown(directory, NOBODY, NOBODY)
  const data = join(directory, 'data')
  const log = join(directory, 'postgres.log')
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }
  const [initdb, ...initArgs] = [
    ...asNobody(),
    join(bin, 'initdb'),
    '-D',
    data,
    '-U',
    'keelson',
    '-A',
    'trust',
    '-E',
    'UTF8',
  ]
  await run(initdb, initArgs, { env, cwd: '/' })
  const library =
    slowFsyncUs === undefined ? {} : { LD_PRELOAD: await slowFsync(directory), SLOW_FSYNC_US: `${slowFsyncUs}` }
  const port = await freePort()
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting])
  const server = keepProcess([...asNobody(), join(bin, 'postgres'), '-D', data, ...settings], {
    env: { ...env, ...library },
    cwd: '/',
    stopSignal: 'INT',
    output: openSync(log, 'w'),
  })
  const url = `postgres://keelson@127.0.0.1:${port}/postgres`
  const version = await accepts(url, log)
  return {
    url,
    version,
    directory,
    [Symbol.asyncDispose]: async () => {
      await server.stop(30_000)
      await rm(directory, { recursive: true, force: true })
    },
  }
}
