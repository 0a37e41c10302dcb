import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { Sql } from './postgres.ts'

/** What one request costs, as means over many. Null where the machine or the server cannot tell. */
export type Cost = {
  name: string
  requests: number
  /** Statements that Postgres ran, its transactions' BEGIN and COMMIT included. */
  queries: number | null
  nodeUs: number | null
  postgresUs: number | null
  /** Bytes that the service read from and wrote to all its sockets: callers, Postgres, agents. */
  bytesRead: number | null
  bytesWritten: number | null
}

/** The processes of a service, and its Postgres. */
export type Measured = { sql: Sql; pids: readonly number[] }

type Reading = Record<'queries' | 'nodeUs' | 'postgresUs' | 'bytesRead' | 'bytesWritten', number>

// Linux counts the time of a process in hundredths of a second (USER_HZ, the same on all its architectures).
const TICK_US = 10_000

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

const hasProc = existsSync('/proc/self/stat')

/** CPU time of a process with all its threads, and that of its ended children; proc(5) numbers the fields from 1. */
const statOf = async (pid: number) => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const field = (number: number) => fields[number - 3] ?? 0
  return { parent: field(4), ownUs: (field(14) + field(15)) * TICK_US, endedUs: (field(16) + field(17)) * TICK_US }
}

const postgresUs = async (sql: Sql): Promise<number> => {
  const [row] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`
  const { parent: postmaster } = await statOf(row.pid)
  const pids = (await readdir('/proc')).map(Number).filter(Boolean)
  const stats = (await Promise.all(pids.map((pid) => statOf(pid).catch(() => null)))).filter((stat) => stat !== null)
  const { ownUs, endedUs } = await statOf(postmaster)
  return ownUs + endedUs + sumOf(stats.filter(({ parent }) => parent === postmaster).map((child) => child.ownUs))
}

const bytesOf = async (pid: number) => {
  const text = await readFile(`/proc/${pid}/io`, 'utf8')
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1])
  return { bytesRead: bytes('rchar'), bytesWritten: bytes('wchar') }
}

const statementsOf = async (sql: Sql): Promise<number> => {
  const [row] = await sql<[{ calls: number }]>`
    select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements where query not like '%pg_stat_statements%'`
  return row.calls
}

const readingOf = async ({ sql, pids }: Measured): Promise<Partial<Reading>> => {
  const queries = await statementsOf(sql).catch(() => Number.NaN)
  if (!hasProc) return { queries }
  const nodeUs = sumOf((await Promise.all(pids.map(statOf))).map(({ ownUs }) => ownUs))
  const bytes = await Promise.all(pids.map(bytesOf))
  return {
    queries,
    nodeUs,
    postgresUs: await postgresUs(sql),
    bytesRead: sumOf(bytes.map(({ bytesRead }) => bytesRead)),
    bytesWritten: sumOf(bytes.map(({ bytesWritten }) => bytesWritten)),
  }
}

// Statements are counted only here: counting takes time that no comparison should contain.
const countStatements = async (sql: Sql, track: 'top' | 'none') => {
  await sql.unsafe(`alter system set pg_stat_statements.track = '${track}'`).catch(() => {})
  await sql`select pg_reload_conf()`
}

/**
 * Reads what a service and its Postgres have used before and after some work.
 *
 * @param work makes requests, and tells how many
 */
export const costOf = async (name: string, measured: Measured, work: () => Promise<number>): Promise<Cost> => {
  await work()
  await countStatements(measured.sql, 'top')
  const before = await readingOf(measured)
  const requests = await work()
  const after = await readingOf(measured)
  await countStatements(measured.sql, 'none')
  const each = (key: keyof Reading) => {
    const mean = ((after[key] ?? Number.NaN) - (before[key] ?? Number.NaN)) / requests
    return Number.isNaN(mean) ? null : mean
  }
  const bytes = { bytesRead: each('bytesRead'), bytesWritten: each('bytesWritten') }
  return { name, requests, queries: each('queries'), nodeUs: each('nodeUs'), postgresUs: each('postgresUs'), ...bytes }
}
