import { sql } from 'drizzle-orm'
import { foreignKey, integer, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { bytes, timestamp } from '../columns.ts'
import { agents } from './agents.ts'
import { agent } from './schema.ts'

/** Events accepted in durable mode; migration 0051. `headers` is JSON text of what is passed on. */
export const webhookDeliveries = agent.table(
  'webhook_deliveries',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    agent_id: text().notNull(),
    agent_name: text().notNull(),
    key_id: text().notNull(),
    source: text().$type<'external' | 'github' | 'slack'>().notNull(),
    source_delivery_id: text(),
    path: text().notNull(),
    query: text().notNull(),
    headers: text().notNull(),
    body: bytes().notNull(),
    body_bytes: integer()
      .notNull()
      .generatedAlwaysAs(sql`octet_length(body)`),
    status: text().$type<'pending' | 'delivered' | 'dead'>().notNull().default('pending'),
    attempts: integer().notNull().default(0),
    failures: integer().notNull().default(0),
    last_status: integer(),
    last_error: text(),
    received_at: timestamp()
      .notNull()
      .default(sql`now()`),
    next_attempt_at: timestamp().default(sql`now()`),
    claimed_until: timestamp(),
    delivered_at: timestamp(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.id] }),
    unique('webhook_deliveries_source_unique').on(table.account_id, table.key_id, table.source_delivery_id),
    foreignKey({ columns: [table.account_id, table.agent_id], foreignColumns: [agents.account_id, agents.id] }),
  ],
)
