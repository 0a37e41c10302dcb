import { sql } from 'drizzle-orm'
import { bigint, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { jsonText, timestamp } from '../columns.ts'
import { platform } from './schema.ts'

export const MODEL_STATUSES = ['failed', 'ready', 'deploying', 'deployment_timeout'] as const
export const MODEL_AVAILABILITIES = ['unknown', 'available', 'unavailable'] as const
/** The vendors a model is deployed at; models of every other vendor are hosted and have no deployments. */
export const DEPLOYED_VENDORS = ['launch', 'llmengine'] as const

export type ModelStatus = (typeof MODEL_STATUSES)[number]
export type ModelAvailability = (typeof MODEL_AVAILABILITIES)[number]
export type DeployedVendor = (typeof DEPLOYED_VENDORS)[number]

/** Models; migration 0020. `status` is `deploying` exactly while a create or update deployment is under way. */
export const models = platform.table(
  'models',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    model_type: text().$type<'generic' | 'completion' | 'chat_completion'>().notNull(),
    model_vendor: text().notNull(),
    model_metadata: jsonText(),
    vendor_configuration: jsonText(),
    status: text().$type<ModelStatus>().notNull(),
    status_reason: text(),
    model_availability: text().$type<ModelAvailability>().notNull().default('unknown'),
    generation: integer().notNull().default(0),
    revision: bigint({ mode: 'number' }).notNull().default(1),
    observe_at: timestamp(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
    created_by_identity_type: text().$type<'user' | 'service_account'>().notNull(),
    created_by_user_id: text().notNull(),
    updated_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.id] })],
)

/** The constraint violated by a second model of one name and vendor. */
export const MODEL_NAME_KEY = 'models_name_key'
