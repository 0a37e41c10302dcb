import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PostgresBinaries } from './postgres-binaries.ts'

const run = promisify(execFile)
const USER = 'keelson'
const DATABASE = 'keelson'
const ENVIRONMENT = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }

/** The files of one Postgres: its data, the password of its only user, its log. */
export type Cluster = { data: string; log: string; url: (port: number) => string }

const createDatabase = (binaries: PostgresBinaries, data: string) =>
  new Promise<void>((resolve, reject) => {
    const [command, ...args] = [...binaries.prefix, binaries.postgres, '--single', '-F', '-D', data, 'postgres']
    const child = spawn(command, args, { env: ENVIRONMENT, stdio: ['pipe', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk) => (said += chunk))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`creating the database failed:\n${said}`)),
    )
    child.stdin.end(`CREATE DATABASE ${DATABASE}\n`)
  })

const initialise = async (binaries: PostgresBinaries, directory: string, durable: boolean) => {
  // Made beside its place and renamed, so that an interrupted first start leaves nothing half made.
  const [fresh, passwordFile] = [join(directory, 'data.new'), join(directory, 'password')]
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { mode: 0o700 })
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 })
  if (binaries.owner !== null)
    for (const path of [fresh, passwordFile]) await chown(path, binaries.owner, binaries.owner)
  const args = ['--pgdata', fresh, '--username', USER, '--pwfile', passwordFile, '--auth=scram-sha-256']
  args.push('--encoding=UTF8', '--locale=C', ...(durable ? [] : ['--no-sync']))
  const [command, ...rest] = [...binaries.prefix, binaries.initdb, ...args]
  await run(command!, rest, { env: ENVIRONMENT }).catch((error: Error & { stderr?: string }) => {
    throw new Error(`initdb failed in ${directory}:\n${error.stderr || error.message}`)
  })
  await createDatabase(binaries, fresh)
  await rename(fresh, join(directory, 'data'))
}

/** Opens the cluster in `directory`, made on first use. A half-made one is thrown away. */
export const openCluster = async (
  binaries: PostgresBinaries,
  directory: string,
  durable: boolean,
): Promise<Cluster> => {
  const data = join(directory, 'data')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (binaries.owner) await chmod(directory, 0o711)
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(binaries, directory, durable)
  // An earlier start may have had to run as another user.
  const { owner } = binaries
  if (owner !== null && (await stat(data)).uid !== owner) await run('chown', ['-R', `${owner}:${owner}`, data])
  const password = (await readFile(join(directory, 'password'), 'utf8')).trim()
  return {
    data,
    log: join(directory, 'postgres.log'),
    url: (port) => `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`,
  }
}
