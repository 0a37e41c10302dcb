import { sql } from 'drizzle-orm'
import { foreignKey, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytes, timestamp } from '../columns.ts'
import { identities } from './identities.ts'
import { identity } from './schema.ts'

export const apiKeys = identity.table(
  'api_keys',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    identity_id: text().notNull(),
    /** HMAC-SHA-256 of the token under the pepper. */
    hash: bytes().notNull().unique('api_keys_hash_key'),
    /** Prefix and first characters of the token, for people to recognise it by. */
    hint: text().notNull(),
    name: text().notNull(),
    /** `null` is everything. */
    scopes: text().array(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
    expires_at: timestamp(),
    revoked_at: timestamp(),
    last_used_at: timestamp(),
    replaced_by: text(),
    /** MAC over what the row grants; `null` exactly when revoked. */
    row_mac: bytes(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.id] }),
    foreignKey({
      columns: [table.account_id, table.identity_id],
      foreignColumns: [identities.account_id, identities.id],
    }),
    foreignKey({ columns: [table.account_id, table.replaced_by], foreignColumns: [table.account_id, table.id] }),
  ],
)
