import type { Database } from '@keelson/database'

const CONDITION = /\baccount_id = (?:[a-z_]+\.account_id|of_account|account)\b/g

/**
 * Takes from a whole database what stands behind the conditions of queries: row-level security, and the conditions on
 * the account in its functions. For a database of a test's own.
 */
export const removeSecondWalls = async ({ sql }: Pick<Database, 'sql'>): Promise<void> => {
  const tables = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relrowsecurity and n.nspname in ('identity', 'platform', 'agent')`
  for (const { name } of tables) {
    await sql.unsafe(`alter table ${name} disable row level security, no force row level security`)
  }
  const functions = await sql<{ text: string }[]>`
    select pg_get_functiondef(p.oid) as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('platform', 'agent')`
  for (const { text } of functions) await sql.unsafe(text.replaceAll(CONDITION, `account_id <> ''`))
}
