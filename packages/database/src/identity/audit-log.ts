import { sql } from 'drizzle-orm'
import { bigint, customType, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytes, timestamp } from '../columns.ts'
import { identity } from './schema.ts'

/** What was refused has the code of its answer, or `invalid_request` for all that say no more of it than that. */
export const AUDIT_OUTCOMES = [
  'done',
  'granted',
  'account_mismatch',
  'rate_limited',
  'missing_scope',
  'request_in_progress',
  'idempotency_key_reused',
  'invalid_request',
  'not_found',
  'integrity_failure',
  'unavailable',
] as const

export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** Who did what to which secret; migrations 0011 and 0143. Rows are appended and never changed. */
export const auditLog = identity.table(
  'audit_log',
  {
    account_id: text().notNull(),
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity(),
    at: timestamp()
      .notNull()
      .default(sql`clock_timestamp()`),
    key_id: text().notNull(),
    identity_id: text().notNull(),
    identity_type: text().notNull(),
    action: text().notNull(),
    target_type: text().notNull(),
    target_id: text(),
    target_version: integer(),
    outcome: text({ enum: AUDIT_OUTCOMES }).notNull(),
    request_id: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.seq] })],
)

const int8multirange = customType<{ data: string; driverData: string }>({ dataType: () => 'int8multirange' })

/** Numbered MACs over rows of the audit log, each over the one before as well. */
export const auditSeals = identity.table(
  'audit_seals',
  {
    account_id: text().notNull().default('system'),
    number: bigint({ mode: 'number' }).notNull(),
    seqs: int8multirange().notNull(),
    row_count: integer().notNull(),
    mac: bytes().notNull(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.number] })],
)
