import { sql } from 'drizzle-orm'
import { foreignKey, integer, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { bytes, timestamp } from '../columns.ts'
import { agents } from './agents.ts'
import { agent } from './schema.ts'

const now = () =>
  timestamp()
    .notNull()
    .default(sql`now()`)

/** The constraint violated by a second key of one agent, name and source. */
export const AGENT_API_KEY_NAME_UNIQUE = 'agent_api_keys_name_unique'

/** Keys that let webhooks in, without their secrets; migration 0050. */
export const agentApiKeys = agent.table(
  'agent_api_keys',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    agent_id: text().notNull(),
    name: text().notNull(),
    source: text().$type<'external' | 'github' | 'slack'>().notNull(),
    verification: text().$type<'key' | 'standard_webhooks'>(),
    forward_path: text(),
    delivery: text().$type<'sync' | 'durable'>().notNull(),
    created_at: now(),
    rotated_at: timestamp(),
    previous_expires_at: timestamp(),
    failing_since: timestamp(),
    disabled_at: timestamp(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.id] }),
    unique(AGENT_API_KEY_NAME_UNIQUE).on(table.account_id, table.agent_id, table.name, table.source),
    foreignKey({
      columns: [table.account_id, table.agent_id],
      foreignColumns: [agents.account_id, agents.id],
    }).onDelete('cascade'),
  ],
)

/** Sealed secrets of keys; row-level security binds every reader to one account. */
export const agentApiKeySecrets = agent.table(
  'agent_api_key_secrets',
  {
    account_id: text().notNull(),
    key_id: text().notNull(),
    version: integer().notNull(),
    sealed: bytes().notNull(),
    created_at: now(),
    expires_at: timestamp(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.key_id, table.version] }),
    foreignKey({
      columns: [table.account_id, table.key_id],
      foreignColumns: [agentApiKeys.account_id, agentApiKeys.id],
    }).onDelete('cascade'),
  ],
)
