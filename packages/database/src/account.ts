import type postgres from 'postgres'
import type { Database } from './connect.ts'

export type Transaction = postgres.TransactionSql

/**
 * Runs statements in a transaction that row-level security binds to one account: rows of any other are neither seen nor
 * written, whatever the statement says. The setting ends with the transaction, so poolers are safe.
 */
export const withAccount = <Result>(
  db: Pick<Database, 'sql'>,
  account_id: string,
  run: (tx: Transaction) => Promise<Result>,
): Promise<Result> =>
  db.sql.begin(async (tx) => {
    await tx`select set_config('keelson.account_id', ${account_id}, true)`
    return run(tx)
  }) as Promise<Result>

/**
 * A common table expression named `bound` that binds the statement it begins to one account, in one round trip. Read
 * tables under row-level security only `cross join lateral (… offset 0)` to it, or the plan may read them before they are
 * bound and find nothing.
 */
export const boundTo = (sql: postgres.ISql, account_id: string) =>
  sql`bound as materialized (select set_config('keelson.account_id', ${account_id}, true) as account_id)`
