import type { Database } from '@keelson/database'
import type { AuditOutcome } from '@keelson/database/identity'
import { IntegrityError, open, type AccountKeys, type SealContext } from '@keelson/secrets'
import { recordAudit, type AuditedBy } from './audit-entry.ts'
import { auditedReads, type RevealCredential, type StoredSecret } from './audited-reads.ts'
import { refusedReveals } from './refused-reveals.ts'

/** Which version of which credential a payload is of; it opens nowhere else. */
export type PayloadPlace = { account_id: string; credential_id: string; version: number }

export const payloadContext = ({ account_id, credential_id, version }: PayloadPlace): SealContext => ({
  purpose: 'credential.payload',
  account_id,
  record_id: credential_id,
  record_version: version,
})

/**
 * The payload of a credential's current version.
 *
 * @param stored its ciphertext is `null` when the version is gone
 * @throws IntegrityError, KeyProviderUnavailable
 */
export const openPayload = async (
  keys: AccountKeys,
  account_id: string,
  { id, current_version, sealed }: StoredSecret,
): Promise<string> => {
  if (sealed === null) throw new IntegrityError('format', 'the version is missing')
  const context = payloadContext({ account_id, credential_id: id, version: current_version })
  return (await open(keys, context, sealed)).toString()
}

const outcomeOf = (error: unknown): AuditOutcome =>
  error instanceof IntegrityError ? 'integrity_failure' : 'unavailable'

/**
 * The one way to a credential's payload, for callers and for vendors. Every call leaves an audit row; one whose payload
 * could not be opened leaves a second that says so.
 */
export const credentialReveals = ({ db, accountKeys }: { db: Database; accountKeys: AccountKeys }) => {
  const readAudited = auditedReads(db)
  const record = (by: AuditedBy, { id, current_version }: StoredSecret, outcome: AuditOutcome) =>
    recordAudit(db, { ...by, action: 'credential.reveal' }, { target_id: id, target_version: current_version, outcome })

  return {
    /**
     * @returns `null` when the account has no such credential
     * @throws IntegrityError, KeyProviderUnavailable, ApiError `unavailable`, and what the database throws
     */
    async reveal(request: RevealCredential): Promise<string | null> {
      const stored = await readAudited(request)
      if (stored === null) return null
      try {
        return await openPayload(accountKeys, request.principal.account_id, stored)
      } catch (error) {
        await record(request, stored, outcomeOf(error))
        throw error
      }
    },

    /** Leaves the audit row of a reveal that was refused before anything was read. */
    refuse: refusedReveals(db),
  }
}

export type CredentialReveals = ReturnType<typeof credentialReveals>
