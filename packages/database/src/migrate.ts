import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { connectionOptions, type Database } from './connect.ts'
import { sqlStateOf } from './errors.ts'
import { defaultDirectory, readMigrations, SchemaMismatch, stateOf, type Migration } from './migrations.ts'

export { SchemaMismatch } from './migrations.ts'

export type MigrateOptions = {
  /** Where the SQL files are; by default beside the sources or the bundle. */
  directory?: string
  /** How long one try waits for a table's lock, while everybody else queues behind it. */
  lockTimeoutMs?: number
  /** Tries to get a table's lock, a little longer apart each time. */
  attempts?: number
  /** How long to wait for another migrator to finish. */
  turnTimeoutMs?: number
}

export type Applied = { name: string; durationMs: number }

const LOCK = 5_064_215_337n
const LOCK_NOT_AVAILABLE = '55P03'

/** Polls, because a session blocked in `pg_advisory_lock` would hold up CREATE INDEX CONCURRENTLY of the other one. */
const takeTurn = async (sql: postgres.ReservedSql, turnTimeoutMs: number): Promise<void> => {
  const deadline = performance.now() + turnTimeoutMs
  while (true) {
    const [row] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${String(LOCK)}) as taken`
    if (row?.taken) return
    if (performance.now() > deadline) throw new Error(`Another migration has been running for ${turnTimeoutMs} ms`)
    await delay(100)
  }
}

const JOURNAL = `
  create schema if not exists keelson;
  create table if not exists keelson.migrations (
    name text collate "C" primary key,
    sha256 text not null,
    applied_at timestamptz not null default now()
  );
  grant usage on schema keelson to public;
  grant select on keelson.migrations to public;`

const record = (sql: postgres.ISql, { name, sha256 }: Migration) =>
  sql`insert into keelson.migrations (name, sha256) values (${name}, ${sha256})`

/** Statements of a file that runs outside a transaction: each ends in a semicolon at the end of its line. */
const statementsOf = (text: string): string[] =>
  text.split(/;[ \t]*(?:\n|$)/).filter((statement) => statement.replaceAll(/--.*$/gm, '').trim() !== '')

const run = async (sql: postgres.ReservedSql, migration: Migration): Promise<void> => {
  if (!migration.transaction) {
    for (const statement of statementsOf(migration.text)) await sql.unsafe(statement)
    await record(sql, migration)
    return
  }
  await sql`begin`
  try {
    await sql.unsafe(migration.text)
    await record(sql, migration)
    await sql`commit`
  } catch (error) {
    await sql`rollback`.catch(() => {})
    throw error
  }
}

const runWithRetries = async (sql: postgres.ReservedSql, migration: Migration, attempts: number): Promise<Applied> => {
  const started = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(sql, migration)
      return { name: migration.name, durationMs: Math.round(performance.now() - started) }
    } catch (error) {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE || attempt >= attempts) {
        throw new Error(`${migration.name} failed: ${(error as Error).message}`, { cause: error })
      }
      await delay(Math.min(200 * 2 ** attempt, 5_000) * (0.5 + Math.random() / 2))
    }
  }
}

/**
 * Brings a database up to date: applies every file the journal lacks, in order, one transaction each. A file whose
 * first line is `-- outside a transaction` runs statement by statement instead and must be repeatable. Migrators take
 * turns; a try that cannot get a table's lock soon gives way to traffic and comes back.
 *
 * @returns what was applied, nothing when the database was up to date
 * @throws SchemaMismatch when applied history was edited or is unknown; Error naming the file that failed
 */
export const migrate = async (url: string, options: MigrateOptions = {}): Promise<Applied[]> => {
  const { directory = defaultDirectory(), lockTimeoutMs = 2_000, attempts = 10, turnTimeoutMs = 120_000 } = options
  const migrations = await readMigrations(directory)
  const settings = connectionOptions({ applicationName: 'migrate', statementTimeoutMs: 0, lockTimeoutMs })
  const pool = postgres(url, { ...settings, max: 1, max_lifetime: null })
  try {
    const sql = await pool.reserve()
    try {
      await takeTurn(sql, turnTimeoutMs)
      await sql.unsafe(JOURNAL)
      const applied: Applied[] = []
      for (const migration of (await stateOf(sql, migrations)).pending) {
        applied.push(await runWithRetries(sql, migration, attempts))
      }
      return applied
    } finally {
      sql.release()
    }
  } finally {
    await pool.end({ timeout: 1 })
  }
}

/**
 * Refuses a database this build cannot serve from.
 *
 * @throws SchemaMismatch when migrations are missing, were edited, or are newer than this build
 */
export const assertMigrated = async (
  db: Pick<Database, 'sql'>,
  { directory = defaultDirectory() }: { directory?: string } = {},
): Promise<void> => {
  const { pending } = await stateOf(db.sql, await readMigrations(directory))
  if (pending.length === 0) return
  const names = pending.map(({ name }) => name).join(', ')
  throw new SchemaMismatch(`The database lacks ${names}: run \`pnpm db:migrate\` before starting a service`)
}
