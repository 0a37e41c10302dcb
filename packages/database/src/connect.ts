import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { int8, utcTimestamp } from './parsers.ts'
import { serializeText } from './text-bytes.ts'

/** One pool of connections, reached through plain SQL or through drizzle. */
export type Database = AsyncDisposable & {
  /**
   * postgres.js. `timestamptz` arrives as the wire's text, `int8` as a number while exact, `bytea` as Buffer, `json` as
   * its text; a large `text` may be given as `TextBytes`. An array of Buffers needs its type said: `sql.array(buffers, 17)`.
   */
  sql: postgres.Sql
  orm: PostgresJsDatabase
}

export type ConnectOptions = {
  url: string
  /** Shown in `pg_stat_activity`. */
  applicationName: string
  maxConnections?: number
  /** A statement that runs longer is cancelled and the request answered 503. */
  statementTimeoutMs?: number
  /** How long a statement waits for a lock before it gives up. */
  lockTimeoutMs?: number
}

const OID = { int8: 20, text: 25, json: 114, jsonb: 3802, timestamptz: 1184, timestamptzArray: 1185 } as const

const asText = (text: string): string => text

/** Reconnects within half a second of Postgres coming back, and tells waiting callers of a dead one as soon. */
const reconnectDelaySeconds = (retries: number): number =>
  Math.min(0.05 * 2 ** retries, 0.5) * (0.5 + Math.random() / 2)

/** What every connection of ours has in common, the ones outside a pool too. */
export const connectionOptions = ({
  applicationName,
  statementTimeoutMs = 15_000,
  lockTimeoutMs = 5_000,
}: Omit<ConnectOptions, 'url'>) =>
  ({
    connect_timeout: 5,
    backoff: reconnectDelaySeconds as never,
    onnotice: () => {},
    connection: {
      application_name: applicationName,
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      bytea_output: 'hex',
      jit: 'off',
      // Plans are kept for as long as a connection: one made while a table was small would read all of it when it has grown.
      enable_seqscan: 'off',
      statement_timeout: statementTimeoutMs,
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: 15_000,
    },
  }) satisfies postgres.Options<Record<string, postgres.PostgresType>>

/** Opens a pool. Nothing is connected until the first query; disposing waits up to 5 s for running ones. */
export const connect = (options: ConnectOptions): Database => {
  const sql = postgres(options.url, { ...connectionOptions(options), max: options.maxConnections ?? 10 })
  const orm = drizzle(sql)
  // drizzle puts parsers of its own on the client, so ours come after it.
  const { parsers, serializers } = sql.options
  parsers[OID.timestamptz] = utcTimestamp
  parsers[OID.int8] = int8
  parsers[OID.json] = parsers[OID.jsonb] = asText
  serializers[OID.text] = serializeText
  delete parsers[OID.timestamptzArray]
  delete serializers[OID.timestamptzArray]
  return { sql, orm, [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) }
}
