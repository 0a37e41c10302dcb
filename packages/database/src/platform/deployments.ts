import { sql } from 'drizzle-orm'
import { bigint, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import type postgres from 'postgres'
import { jsonText, timestamp } from '../columns.ts'
import type { DeployedVendor } from './models.ts'
import { platform } from './schema.ts'

export const DEPLOYMENT_KINDS = ['create', 'update', 'delete', 'cleanup'] as const
export const ACTIVE_PHASES = ['queued', 'submitted', 'building', 'starting', 'verifying', 'tearing_down'] as const
export const FINAL_PHASES = ['succeeded', 'failed', 'timed_out', 'superseded'] as const

export type DeploymentKind = (typeof DEPLOYMENT_KINDS)[number]
export type ActivePhase = (typeof ACTIVE_PHASES)[number]
export type FinalPhase = (typeof FINAL_PHASES)[number]
export type DeploymentPhase = ActivePhase | FinalPhase

/** Why a deployment is where it is, for programs; `status_message` says it to people. */
export const REASON_CODES = [
  'build_failed',
  'build_timeout',
  'credential_not_found',
  'credential_unavailable',
  'endpoint_missing',
  'endpoint_overwritten',
  'image_not_found',
  'internal_error',
  'no_workers',
  'queue_timeout',
  'superseded',
  'teardown_timeout',
  'vendor_busy',
  'vendor_error',
  'vendor_not_configured',
  'vendor_rejected',
  'vendor_unauthorized',
  'vendor_unavailable',
] as const

export type ReasonCode = (typeof REASON_CODES)[number]

/** Deployments; migration 0020. The row is the truth and its own outbox: an unfinished one that is due is the message. */
export const deployments = platform.table(
  'deployments',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    model_id: text().notNull(),
    kind: text().$type<DeploymentKind>().notNull(),
    generation: integer().notNull(),
    model_vendor: text().$type<DeployedVendor>().notNull(),
    configuration: jsonText().notNull(),
    phase: text().$type<DeploymentPhase>().notNull().default('queued'),
    reason_code: text().$type<ReasonCode>(),
    status_message: text(),
    attempts: integer().notNull().default(0),
    fence: bigint({ mode: 'number' }).notNull().default(0),
    lease_until: timestamp(),
    claimed_at: timestamp(),
    next_at: timestamp()
      .notNull()
      .default(sql`now()`),
    unsettled_at: timestamp(),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
    started_at: timestamp(),
    accepted_at: timestamp(),
    deadline: timestamp(),
    finished_at: timestamp(),
    traceparent: text(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.id] })],
)

/** The constraint violated by a deployment of a model that has one under way. */
export const DEPLOYMENT_ACTIVE_KEY = 'deployments_active_key'

export type NewDeployment = {
  account_id: string
  id: string
  model_id: string
  kind: Exclude<DeploymentKind, 'cleanup'>
  /** The generation of the model as this transaction leaves it. */
  generation: number
  model_vendor: DeployedVendor
  /** The whole configuration to serve, as JSON text. */
  configuration: string
  /** W3C trace context of the request that asked for it. */
  traceparent: string | null
}

/**
 * Accepts a deployment in the caller's transaction, the one that also writes the model's status. A cleanup under way is
 * superseded; anything else under way violates {@link DEPLOYMENT_ACTIVE_KEY}. Ring the doorbell after the commit.
 */
export const startDeployment = (sql: postgres.ISql, deployment: NewDeployment): PromiseLike<unknown> => sql`
  with superseded as (
    update platform.deployments
    set phase = 'superseded', reason_code = 'superseded', status_message = null, finished_at = now(), lease_until = null
    where account_id = ${deployment.account_id} and model_id = ${deployment.model_id}
      and kind = 'cleanup' and finished_at is null
    returning 1
  )
  insert into platform.deployments (account_id, id, model_id, kind, generation, model_vendor, configuration, traceparent)
  select ${deployment.account_id}, ${deployment.id}, ${deployment.model_id}, ${deployment.kind}, ${deployment.generation}::int,
    ${deployment.model_vendor}, ${deployment.configuration}, ${deployment.traceparent}
  from (select count(*) from superseded) first`
