import { sql } from 'drizzle-orm'
import { foreignKey, index, integer, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, timestamp } from '../columns.ts'
import { accounts } from './accounts.ts'
import { identity } from './schema.ts'

export const ACCOUNT_KEY_STATES = ['active', 'decrypt_only', 'destroyed'] as const

/** Keys that data of an account is encrypted under, each wrapped by a key-encryption key; `system` owns the installation's. */
export const accountKeys = identity.table(
  'account_keys',
  {
    account_id: text().notNull(),
    version: integer().notNull(),
    state: text({ enum: ACCOUNT_KEY_STATES }).notNull(),
    kek_id: text().notNull(),
    wrapped: bytes().notNull(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.version] }),
    foreignKey({ columns: [table.account_id], foreignColumns: [accounts.account_id] }),
    uniqueIndex('account_keys_active_key')
      .on(table.account_id)
      .where(sql`state = 'active'`),
    index('account_keys_kek_id_idx').on(table.kek_id),
  ],
)
