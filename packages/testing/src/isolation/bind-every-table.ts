import { randomBytes } from 'node:crypto'
import { connect, type Database } from '@keelson/database'

/** A user that is only a member of `keelson_service`, on a database where row-level security binds every table. */
export type BoundRole = AsyncDisposable & { url: string }

const CONDITION = `account_id = nullif(current_setting('keelson.account_id', true), '')`

/** Switches row-level security on for every table that has accounts, and makes a user that it binds. */
export const bindEveryTable = async ({ sql }: Pick<Database, 'sql'>, url: string): Promise<BoundRole> => {
  const tables = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
    where c.relkind in ('r', 'p') and n.nspname in ('identity', 'platform', 'agent')
      and not exists (select 1 from pg_policy p where p.polrelid = c.oid)`
  for (const { name } of tables) {
    await sql.unsafe(`
      alter table ${name} enable row level security;
      create policy own_account on ${name} using (${CONDITION}) with check (${CONDITION});`)
  }
  const [name, password] = [`bound_${randomBytes(6).toString('hex')}`, randomBytes(16).toString('hex')]
  await sql.unsafe(`create role ${name} login password '${password}' in role keelson_service`)
  return {
    url: Object.assign(new URL(url), { username: name, password }).href,
    [Symbol.asyncDispose]: async () => void (await sql.unsafe(`drop owned by ${name}; drop role ${name}`)),
  }
}

/** A connection as that user, all of whose statements are bound to one account. */
export const boundDatabase = ({ url }: BoundRole, account_id: string): Database => {
  const bound = new URL(url)
  bound.searchParams.set('options', `-c keelson.account_id=${account_id}`)
  return connect({ url: bound.href, applicationName: 'bound', maxConnections: 4 })
}
