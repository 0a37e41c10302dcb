import { sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { timestamp } from '../columns.ts'
import { identity } from './schema.ts'

export const accounts = identity.table('accounts', {
  account_id: text().primaryKey(),
  name: text().notNull().unique('accounts_name_key'),
  created_at: timestamp()
    .notNull()
    .default(sql`now()`),
})
