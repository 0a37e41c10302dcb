import { sql } from 'drizzle-orm'
import { integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { timestamp } from '../columns.ts'
import { identity } from './schema.ts'

/** Requests that carried an `Idempotency-Key`, and what they were answered; migration 0003. */
export const idempotencyKeys = identity.table(
  'idempotency_keys',
  {
    account_id: text().notNull(),
    operation: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    started_at: timestamp()
      .notNull()
      .default(sql`now()`),
    status: integer(),
    body: text(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.operation, table.key] })],
)
