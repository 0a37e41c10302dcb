import { randomUUID } from 'node:crypto'
import { boundTo, type Database, type Transaction } from '@keelson/database'
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

/** Who does it, and in which request. */
export type AuditedBy = Omit<AuditedAct, 'action'>

/** Somebody at the command line, who has the rights of the database's owner and no API key. */
export const operatorOf = (account_id: string): AuditedBy => ({
  principal: { account_id, key_id: 'operator', identity_id: 'operator', identity_type: 'service_account' },
  requestId: randomUUID(),
})

/** A service that does it by itself, for whoever comes first, and in no request. */
export const serviceOf = (account_id: string): AuditedBy => ({
  principal: { account_id, key_id: 'service', identity_id: 'service', identity_type: 'service_account' },
  requestId: randomUUID(),
})

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

const rowOf = (sql: postgres.ISql, { target_id, target_version, outcome }: AuditedTarget) => sql`
  select ${target_id}::text as target_id, ${target_version}::integer as target_version, ${outcome} as outcome`

/** Writes the audit row of an act in the transaction that does it, which is bound to the account. */
export const auditWithin = async (tx: Transaction, act: AuditedAct, target: AuditedTarget): Promise<void> => {
  await tx`${auditInsert(tx, act, tx`(${rowOf(tx, target)})`)}`
}

/** Writes an audit row of its own: for what was refused or failed, where there is no statement to join. */
export const recordAudit = async (
  { sql }: Pick<Database, 'sql'>,
  act: AuditedAct,
  target: AuditedTarget,
): Promise<void> => {
  const source = sql`(${rowOf(sql, target)} from bound)`
  await sql`with ${boundTo(sql, act.principal.account_id)} ${auditInsert(sql, act, source)}`
}
