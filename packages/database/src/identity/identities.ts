import { sql } from 'drizzle-orm'
import { foreignKey, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { timestamp } from '../columns.ts'
import { accounts } from './accounts.ts'
import { identity } from './schema.ts'

export const IDENTITY_TYPES = ['user', 'service_account'] as const

export type IdentityType = (typeof IDENTITY_TYPES)[number]

export const identities = identity.table(
  'identities',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    type: text({ enum: IDENTITY_TYPES }).notNull(),
    name: text().notNull(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.id] }),
    unique('identities_name_key').on(table.account_id, table.name),
    foreignKey({ columns: [table.account_id], foreignColumns: [accounts.account_id] }),
  ],
)
