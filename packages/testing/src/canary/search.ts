import type { Database } from '@keelson/database'

type Column = { table: string; column: string; isBytes: boolean }

const columnsOf = ({ sql }: Pick<Database, 'sql'>) => sql<Column[]>`
  select c.oid::regclass::text as table, quote_ident(a.attname) as column, a.atttypid = 'bytea'::regtype as "isBytes"
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
    and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_%'`

/** How a token may look where it was written down. */
const spellings = (token: string): string[] => {
  const bytes = Buffer.from(token)
  return [token, bytes.toString('hex'), ...[0, 1, 2].map((skip) => bytes.subarray(skip, skip + 18).toString('base64'))]
}

/** Which tokens a text holds, as they are, in hex or in base64. */
export const tokensIn = (text: string, tokens: readonly string[]): string[] =>
  tokens.filter((token) => spellings(token).some((spelling) => text.includes(spelling)))

/** Which tokens are in any row of any table of a database, queues and ciphertexts included. */
export const tokensInDatabase = async (db: Pick<Database, 'sql'>, tokens: readonly string[]): Promise<string[]> => {
  const found: string[] = []
  for (const { table, column, isBytes } of await columnsOf(db)) {
    const text = isBytes ? `encode(${column}, 'hex')` : `${column}::text`
    const rows = await db.sql.unsafe<{ text: string }[]>(
      `select ${text} as text from ${table} where ${text} ~ 'canary|${Buffer.from('canary').toString('hex')}|Y2FuYXJ5|NhbmFye|jYW5hcn'`,
    )
    for (const row of rows) found.push(...tokensIn(row.text, tokens).map((token) => `${token} in ${table}.${column}`))
  }
  return found
}
