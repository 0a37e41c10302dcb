import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort } from '@keelson/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres } from './postgres.ts'

// One cluster for all: every test starts what the one before it stopped.
let directory: string
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'keelson postgres '))))
afterAll(() => rm(directory, { recursive: true, force: true }))

const query = async <T>(url: string, work: (sql: postgres.Sql) => Promise<T>) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('data survives a stop and a start in the same directory', async () => {
  {
    await using first = await startPostgres({ directory, durable: true })
    await query(first.url, (sql) => sql`create table stopped as select 7 as answer`)
  }
  await using second = await startPostgres({ directory, durable: true })
  expect(await query(second.url, (sql) => sql`select answer from stopped`)).toEqual([{ answer: 7 }])
})

test('committed data survives a kill -9 of the server, which is reported, and the next start recovers', async () => {
  {
    await using first = await startPostgres({ directory, durable: true })
    await query(first.url, (sql) => sql`create table killed as select 7 as answer`)
    process.kill(first.pid, 'SIGKILL')
    expect(await first.exited).toEqual({ code: 137, reason: 'was killed (SIGKILL)' })
  }
  await using second = await startPostgres({ directory, durable: true })
  expect(await query(second.url, (sql) => sql`select answer from killed`)).toEqual([{ answer: 7 }])
})

test('a pid file whose number now belongs to another program does not prevent a start', async () => {
  await writeFile(join(directory, 'data', 'postmaster.pid'), `${process.pid}\n${directory}/data\n`)
  await using second = await startPostgres({ directory, durable: false })
  expect(second.pid).not.toBe(process.pid)
  expect(isAlive(process.pid)).toBe(true)
})

test('the server ends when the process that started it is killed', async () => {
  const source = `
    import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'postgres.ts'))}
    const { pid } = await startPostgres({ directory: ${JSON.stringify(directory)}, durable: false })
    process.stdout.write(String(pid))
    process.kill(process.pid, 'SIGKILL')`
  const script = join(directory, 'starter.mjs')
  await writeFile(script, source)
  const printed = (() => {
    try {
      return execFileSync(process.execPath, [script], { encoding: 'utf8' })
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  })()
  const pid = Number(printed)
  expect(pid).toBeGreaterThan(1)
  await eventually(() => expect(isAlive(pid)).toBe(false))
})

test('only the generated password opens it, and the password file is private', async () => {
  await using server = await startPostgres({ directory, durable: false })
  const wrong = Object.assign(new URL(server.url), { password: 'wrong' }).href
  await expect(query(wrong, (sql) => sql`select 1`)).rejects.toThrow('password authentication failed')
  expect((await stat(join(directory, 'password'))).mode & 0o777).toBe(0o600)
})

test('text is UTF-8 and sorts by code point, and two hundred connections are allowed', async () => {
  await using server = await startPostgres({ directory, durable: false })
  const [row] = await query(
    server.url,
    (sql) => sql`
      select current_setting('server_encoding') as encoding, current_setting('max_connections') as connections, datcollate as collation
      from pg_database where datname = current_database()`,
  )
  expect(row).toEqual({ encoding: 'UTF8', connections: '200', collation: 'C' })
})

test('a taken port is refused by number', async () => {
  const port = await freePort()
  await using _first = await startPostgres({ directory, port, durable: false })
  await expect(startPostgres({ directory: join(directory, 'other'), port, durable: false })).rejects.toThrow(
    `Port ${port} for Postgres is already in use`,
  )
})

test('a start that fails says why, in the words of the log', async () => {
  await writeFile(join(directory, 'data', 'PG_VERSION'), '9.1\n')
  await expect(startPostgres({ directory, durable: false })).rejects.toThrow(
    'database files are incompatible with server',
  )
})
