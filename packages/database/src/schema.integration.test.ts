import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import * as agent from './agent/index.ts'
import * as identity from './identity/index.ts'
import * as platform from './platform/index.ts'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())

type Column = { name: string; type: string; nullable: boolean }
type Shape = { table: string; columns: Column[]; primaryKey: string[] }

const TYPE_NAMES: Record<string, string> = {
  int: 'integer',
  bool: 'boolean',
  varchar: 'character varying',
  int8: 'bigint',
  timestamptz: 'timestamp with time zone',
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
const byTable = (a: Shape, b: Shape) => (a.table < b.table ? -1 : 1)

const declared = (): Shape[] => {
  const tables = [identity, platform, agent]
    .flatMap((exported) => Object.values(exported))
    .filter((value) => value instanceof PgTable)
  return tables
    .map((table) => {
      const { schema, name, columns, primaryKeys } = getTableConfig(table)
      const keys = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
      return {
        table: `${schema}.${name}`,
        columns: columns
          .map((column) => {
            const type = column.getSQLType()
            return { name: column.name, type: TYPE_NAMES[type] ?? type, nullable: !column.notNull }
          })
          .toSorted(byName),
        primaryKey: keys.map((column) => column.name),
      }
    })
    .toSorted(byTable)
}

const migrated = async (): Promise<Shape[]> =>
  [
    ...(await database.db.sql<Shape[]>`
    select n.nspname || '.' || c.relname as table,
      (select array_agg(k.attname::text order by k.place) from (
        select a.attname, u.place from pg_constraint p, unnest(p.conkey) with ordinality as u (attnum, place)
        join pg_attribute a on a.attnum = u.attnum
        where p.conrelid = c.oid and p.contype = 'p' and a.attrelid = c.oid) k) as "primaryKey",
      (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'nullable', not a.attnotnull))
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('identity', 'platform', 'agent')`),
  ]
    .map((shape) => ({ ...shape, columns: (JSON.parse(shape.columns as never) as Column[]).toSorted(byName) }))
    .toSorted(byTable)

test('the declared tables are the migrated ones: columns, types, nullability and primary keys', async () => {
  const [inCode, inDatabase] = [declared(), await migrated()]
  expect(inCode.map(({ table }) => table)).toEqual(inDatabase.map(({ table }) => table))
  expect(inCode).toEqual(inDatabase)
})

test('every primary key, unique key and foreign key starts with the account, save for the few that cannot', async () => {
  const exceptions = ['api_keys_hash_key', 'accounts_name_key', 'key_canary_pkey']
  const constraints = await database.db.sql<{ name: string; first: string }[]>`
    select p.conname as name, a.attname as first
    from pg_constraint p
    join pg_namespace n on n.oid = p.connamespace
    join pg_attribute a on a.attrelid = p.conrelid and a.attnum = p.conkey[1]
    where n.nspname in ('identity', 'platform', 'agent') and p.contype in ('p', 'u', 'f')`
  const offending = constraints.filter(({ name, first }) => first !== 'account_id' && !exceptions.includes(name))
  expect(offending).toEqual([])
})

test('ids that rows are found and ordered by compare byte by byte, so that they sort by time everywhere', async () => {
  const columns = await database.db.sql`
    select a.attrelid::regclass::text as table, a.attname as column
    from pg_constraint p
    join pg_namespace n on n.oid = p.connamespace
    join pg_attribute a on a.attrelid = p.conrelid and a.attnum = any (p.conkey)
    join pg_collation c on c.oid = a.attcollation
    where n.nspname in ('identity', 'platform', 'agent') and p.contype = 'p' and c.collname <> 'C'`
  expect([...columns]).toEqual([])
})

test('spans are stored for their writes: payloads as text in lz4 where the server has it, room for patches, no index they touch', async () => {
  const { sql } = database.db
  const [table] = await sql<[{ options: string; compression: string }]>`
    select array_to_string(reloptions, ',') as options, (
      select string_agg(attname || ' ' || format_type(atttypid, null) || ' ' || attcompression::text, ', ' order by attname)
      from pg_attribute where attrelid = c.oid and attname in ('input', 'output', 'data')) as compression
    from pg_class c where oid = 'agent.spans'::regclass`
  expect(table.options).toContain('fillfactor=')
  const [lz4] = await sql`select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)`
  const method = lz4 ? 'l' : ''
  expect(table.compression).toBe(`data text ${method}, input text ${method}, output text ${method}`)
  const patched = await sql`
    select indexdef from pg_indexes where schemaname = 'agent' and tablename = 'spans'
      and indexdef ~ '\\m(end_time|input|output|data|data_bytes)\\M'`
  expect([...patched]).toEqual([])
})
