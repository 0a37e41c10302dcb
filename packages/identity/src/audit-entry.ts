import { boundTo, type Database } from '@keelson/database'
import type { AuditOutcome } from '@keelson/database/identity'
import type { Principal } from '@keelson/service-kit'
import type postgres from 'postgres'

/** Who does what, known before it is done. */
export type AuditedAct = {
  principal: Omit<Principal, 'scopes'>
  requestId: string
  /** A noun and a verb, for instance `credential.reveal`. */
  action: string
}

/** What it was done to, and how that went. */
export type AuditedTarget = { target_id: string | null; target_version: number | null; outcome: AuditOutcome }

/**
 * The INSERT of an audit row for each row of a source, for a common table expression of the statement that does the act:
 * one of them failing undoes the other. The statement must be bound to the account, see `boundTo`.
 *
 * @param source a FROM item with the columns `target_id`, `target_version`, `outcome`
 */
export const auditInsert = (
  sql: postgres.ISql,
  { principal, requestId, action }: AuditedAct,
  source: postgres.Fragment,
) => sql`
  insert into identity.audit_log (account_id, key_id, identity_id, identity_type, action, target_type, request_id,
    target_id, target_version, outcome)
  select ${principal.account_id}, ${principal.key_id}, ${principal.identity_id}, ${principal.identity_type}, ${action},
    ${action.split('.', 1)[0]!}, ${requestId}, target.target_id, target.target_version, target.outcome
  from ${source} as target`

/** Writes an audit row of its own: for what was refused or failed, where there is no statement to join. */
export const recordAudit = async (
  { sql }: Pick<Database, 'sql'>,
  act: AuditedAct,
  { target_id, target_version, outcome }: AuditedTarget,
): Promise<void> => {
  const target = sql`(
    select ${target_id}::text as target_id, ${target_version}::integer as target_version, ${outcome} as outcome from bound)`
  await sql`with ${boundTo(sql, act.principal.account_id)} ${auditInsert(sql, act, target)}`
}
