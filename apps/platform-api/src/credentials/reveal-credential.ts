import type { AuditOutcome } from '@keelson/database/identity'
import { recordAudit } from '@keelson/identity'
import { ApiError, notFound } from '@keelson/service-kit'
import { namedTarget, type AuditedReads, type RevealCredential } from './audited-reads.ts'
import type { CredentialDeps } from './create-credential.ts'
import { openPayload } from './payload.ts'

const ACTION = 'credential.reveal'

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
export const revealCredential = async (
  deps: CredentialDeps & { readAudited: AuditedReads },
  request: RevealCredential,
): Promise<string> => {
  const { id, current_version: version, sealed } = (await deps.readAudited(request)) ?? notFound('credential')
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
