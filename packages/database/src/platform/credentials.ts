import { sql } from 'drizzle-orm'
import { bigint, foreignKey, integer, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { bytes, jsonText, timestamp } from '../columns.ts'
import { platform } from './schema.ts'

/** The constraint violated by a second credential of one name. */
export const CREDENTIAL_NAME_UNIQUE = 'credentials_name_unique'

/** Credentials without their secrets; migration 0010. */
export const credentials = platform.table(
  'credentials',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    type: text().$type<'key' | 'json'>().notNull(),
    credential_metadata: jsonText().notNull(),
    current_version: integer().notNull().default(1),
    revision: bigint({ mode: 'number' }).notNull().default(1),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
    created_by_identity_type: text().$type<'user' | 'service_account'>().notNull(),
    created_by_user_id: text().notNull(),
    updated_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.id] }),
    unique(CREDENTIAL_NAME_UNIQUE).on(table.account_id, table.name),
  ],
)

/** Sealed payloads; row-level security binds every reader to one account. */
export const credentialVersions = platform.table(
  'credential_versions',
  {
    account_id: text().notNull(),
    credential_id: text().notNull(),
    version: integer().notNull(),
    sealed: bytes().notNull(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.credential_id, table.version] }),
    foreignKey({
      columns: [table.account_id, table.credential_id],
      foreignColumns: [credentials.account_id, credentials.id],
    }).onDelete('cascade'),
  ],
)
