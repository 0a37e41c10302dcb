import { sql } from 'drizzle-orm'
import { foreignKey, integer, primaryKey, text, unique } from 'drizzle-orm/pg-core'
import { bytes, jsonText, timestamp } from '../columns.ts'
import { agent } from './schema.ts'

const now = () =>
  timestamp()
    .notNull()
    .default(sql`now()`)

/** The constraint violated by a second agent of one name. */
export const AGENT_NAME_UNIQUE = 'agents_name_unique'

/** Agents, deleted ones too; migrations 0050 and 0124. */
export const agents = agent.table(
  'agents',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    acp_url: text().notNull(),
    acp_type: text().$type<'sync' | 'async' | 'agentic'>().notNull(),
    agent_input_type: text().$type<'text' | 'json'>(),
    registration_metadata: jsonText(),
    status: text().notNull(),
    status_reason: text(),
    registered_at: now(),
    created_at: now(),
    updated_at: now(),
    deleted_at: timestamp(),
    life: integer().notNull().default(1),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.id] }),
    unique(AGENT_NAME_UNIQUE).on(table.account_id, table.name),
  ],
)

/** What the ingress signs with when it calls an agent; row-level security binds every reader to one account. */
export const signingSecrets = agent.table(
  'signing_secrets',
  {
    account_id: text().notNull(),
    agent_id: text().notNull(),
    version: integer().notNull(),
    sealed: bytes().notNull(),
    created_at: now(),
  },
  (table) => [
    primaryKey({ columns: [table.account_id, table.agent_id, table.version] }),
    foreignKey({
      columns: [table.account_id, table.agent_id],
      foreignColumns: [agents.account_id, agents.id],
    }).onDelete('cascade'),
  ],
)
