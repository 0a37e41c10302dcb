import type postgres from 'postgres'
import type { Database } from './connect.ts'

type Statements = Pick<Database, 'sql'>

/** A transaction lacks of `sql` only what opens, ends and listens. */
const within = (tx: postgres.TransactionSql): Statements => ({ sql: tx as unknown as postgres.Sql })

/**
 * Runs a statement that waits for no lock longer than `lockTimeoutMs`, or as long as its connection lets it where that is
 * not given. The setting ends with its transaction, so poolers are safe.
 */
export const waitingAtMost = <Result>(
  db: Statements,
  lockTimeoutMs: number | undefined,
  statement: (db: Statements) => Promise<Result>,
): Promise<Result> => {
  if (lockTimeoutMs === undefined) return statement(db)
  return db.sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`
    return statement(within(tx))
  }) as Promise<Result>
}
