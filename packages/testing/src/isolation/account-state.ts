import type { Database } from '@keelson/database'

/** Tables that change by being used: when a key was last used, who asked for what. */
const LIVELY = ['identity.api_keys', 'identity.audit_log', 'identity.idempotency_keys']

/** One text for everything an account has in every table, to see whether any of it changed. */
export const accountState = async ({ sql }: Pick<Database, 'sql'>, account_id: string): Promise<string> => {
  const tables = await sql<{ name: string }[]>`
    select n.nspname || '.' || c.relname as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('identity', 'platform', 'agent')
    order by 1`
  const states: string[] = []
  for (const { name } of tables.filter((table) => !LIVELY.includes(table.name))) {
    const [row] = await sql<{ state: string }[]>`
      select coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as state from ${sql(name)} t
      where t.account_id = ${account_id}`
    states.push(`${name} ${row?.state}`)
  }
  return states.join('\n')
}
