import { sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { bytes, timestamp } from '../columns.ts'
import { identity } from './schema.ts'

/** A random value wrapped under each key-encryption key in use: proof at boot that a service holds the right ones. */
export const keyCanary = identity.table('key_canary', {
  kek_id: text().primaryKey(),
  wrapped: bytes().notNull(),
  /** SHA-256 of the value. */
  digest: bytes().notNull(),
  created_at: timestamp()
    .notNull()
    .default(sql`now()`),
})
