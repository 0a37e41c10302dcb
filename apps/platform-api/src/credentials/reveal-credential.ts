import { boundTo } from '@keelson/database'
import type { AuditOutcome } from '@keelson/database/identity'
import { auditInsert, recordAudit, type AuditedAct } from '@keelson/identity'
import { ApiError, notFound } from '@keelson/service-kit'
import type { CredentialDeps } from './create-credential.ts'
import { openPayload } from './payload.ts'

/** A credential by its id or by its name. */
export type CredentialKey = { id: string } | { name: string }

export type RevealCredential = Omit<AuditedAct, 'action'> & { key: CredentialKey }

type Found = { id: string; current_version: number; sealed: Buffer | null }

const ACTION = 'credential.reveal'
const CREDENTIAL_ID = /^cred_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** What an audit row may say of a target that was not looked up: an id of ours, never other text of the caller's. */
const namedTarget = (key: CredentialKey): string | null => ('id' in key && CREDENTIAL_ID.test(key.id) ? key.id : null)

/** Reads the ciphertext and writes the audit row in one statement: without the row there is no secret. */
const readAudited = async (
  { db: { sql } }: CredentialDeps,
  { key, ...act }: RevealCredential,
): Promise<Found | undefined> => {
  const match = 'id' in key ? sql`id = ${key.id}` : sql`name = ${key.name}`
  const target = sql`(
    select coalesce(found.id, ${namedTarget(key)}) as target_id, found.current_version as target_version,
      case when found.id is null then 'not_found' else 'granted' end as outcome
    from bound left join found on true)`
  const [found] = await sql<Found[]>`
    with ${boundTo(sql, act.principal.account_id)}, found as materialized (
      select credential.id, credential.current_version, version.sealed from bound
      cross join lateral (
        select id, current_version from platform.credentials where account_id = bound.account_id and ${match} offset 0
      ) as credential
      left join lateral (
        select sealed from platform.credential_versions
        where account_id = bound.account_id and credential_id = credential.id and version = credential.current_version
        offset 0
      ) as version on true
    ), audited as (${auditInsert(sql, { ...act, action: ACTION }, target)})
    select id, current_version, sealed from found`
  return found
}

const FAILURES: Partial<Record<ApiError['code'], AuditOutcome>> = {
  credential_integrity_error: 'integrity_failure',
  unavailable: 'unavailable',
}

/**
 * Tells the secret of a credential. Every call leaves an audit row; one whose secret could not be opened leaves a second
 * that says so.
 *
 * @throws ApiError `not_found`, `credential_integrity_error`, `unavailable`
 */
export const revealCredential = async (deps: CredentialDeps, request: RevealCredential): Promise<string> => {
  const { id, current_version: version, sealed } = (await readAudited(deps, request)) ?? notFound('credential')
  const { account_id } = request.principal
  try {
    return await openPayload(deps.accountKeys, { account_id, credential_id: id, version }, sealed)
  } catch (error) {
    const outcome = error instanceof ApiError ? FAILURES[error.code] : undefined
    if (outcome) {
      await recordAudit(deps.db, { ...request, action: ACTION }, { target_id: id, target_version: version, outcome })
    }
    throw error
  }
}

/** Leaves the audit row of a reveal that was refused because the API key lacks the scope. */
export const recordRefusedReveal = ({ db }: Pick<CredentialDeps, 'db'>, request: RevealCredential): Promise<void> =>
  recordAudit(
    db,
    { ...request, action: ACTION },
    { target_id: namedTarget(request.key), target_version: null, outcome: 'missing_scope' },
  )
