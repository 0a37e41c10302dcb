import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type postgres from 'postgres'

export type Migration = { name: string; sha256: string; text: string; transaction: boolean }

/** What the journal says was done, and what is left to do. */
export type MigrationState = { applied: readonly string[]; pending: readonly Migration[] }

/** The schema and the migrations of this build do not belong together; the message says how. */
export class SchemaMismatch extends Error {
  override name = 'SchemaMismatch'
}

/** The folder beside the bundle this module was built into, or above the sources. */
export const defaultDirectory = (): string => {
  const [beside, above] = ['./migrations', '../migrations'].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  )
  return existsSync(beside!) ? beside! : above!
}

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/
const OUTSIDE_TRANSACTION = /^-- outside a transaction\b/

/**
 * Reads the migrations of a folder in the order of their numbers; numbers may have gaps.
 *
 * @throws SchemaMismatch when a file is not named `NNNN_name.sql` or two share a number
 */
export const readMigrations = async (directory: string): Promise<Migration[]> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).toSorted()
  for (const [index, name] of names.entries()) {
    if (!FILE_NAME.test(name)) throw new SchemaMismatch(`${name} is not named NNNN_name.sql`)
    const previous = names[index - 1]
    if (previous?.slice(0, 4) === name.slice(0, 4)) throw new SchemaMismatch(`${previous} and ${name} share a number`)
  }
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(directory, name), 'utf8')
      const sha256 = createHash('sha256').update(text).digest('hex')
      return { name, sha256, text, transaction: !OUTSIDE_TRANSACTION.test(text) }
    }),
  )
}

/**
 * Compares the journal with the migrations of this build.
 *
 * @throws SchemaMismatch when an applied file was edited, renamed or is unknown to this build
 */
export const stateOf = async (sql: postgres.ISql, migrations: readonly Migration[]): Promise<MigrationState> => {
  const [{ journal } = { journal: false }] = await sql<{ journal: boolean }[]>`
    select to_regclass('keelson.migrations') is not null as journal`
  const applied = journal
    ? await sql<{ name: string; sha256: string }[]>`select name, sha256 from keelson.migrations order by name`
    : []
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, sha256 } of applied) {
    const migration = known.get(name)
    if (!migration)
      throw new SchemaMismatch(
        `The database has migration ${name}, which this build does not know: it is older than the database`,
      )
    if (migration.sha256 !== sha256)
      throw new SchemaMismatch(`${name} was edited after it was applied; add a new migration instead`)
  }
  const done = new Set(applied.map(({ name }) => name))
  return { applied: [...done], pending: migrations.filter(({ name }) => !done.has(name)) }
}
