import { jsonTextOf, type RouteInput } from '@keelson/contracts'
import type { credentials } from '@keelson/contracts/platform'
import { constraintOf, type Database } from '@keelson/database'
import { CREDENTIAL_NAME_UNIQUE } from '@keelson/database/platform'
import type { AuditedAct } from '@keelson/identity'
import type { AccountKeys } from '@keelson/secrets'
import { ApiError, typeId } from '@keelson/service-kit'
import type { CredentialRow } from './credential-row.ts'
import type { CredentialInserts } from './insert-credentials.ts'
import { sealPayload } from './payload.ts'

export type CredentialDeps = { db: Database; accountKeys: AccountKeys }

export type CreateCredential = Omit<AuditedAct, 'action'> & RouteInput<typeof credentials.createCredential>

const nameTaken = (): never => {
  throw new ApiError('credential_exists', 'Another credential of the account has the name')
}

/** Passes on what was thrown, a second credential of one name as an answer. */
export const refuseTakenName = (error: unknown): never => {
  if (constraintOf(error) !== CREDENTIAL_NAME_UNIQUE) throw error
  return nameTaken()
}

/**
 * Creates a credential with its first version and the audit row.
 *
 * @throws ApiError `credential_exists`, `unavailable`
 */
export const createCredential = async (
  { accountKeys, insert }: { accountKeys: AccountKeys; insert: CredentialInserts },
  { body, principal, requestId }: CreateCredential,
): Promise<CredentialRow> => {
  const { account_id, identity_id, identity_type } = principal
  const { name, description = '', type, payload } = body
  const credential_metadata = body.credential_metadata === undefined ? '{}' : jsonTextOf(body.credential_metadata)
  const id = typeId('cred')
  const sealed = await sealPayload(accountKeys, { account_id, credential_id: id, version: 1 }, payload)
  const told = { id, name, description, type, credential_metadata }
  const created_at = (await insert({ ...told, principal, requestId, sealed })) ?? nameTaken()
  return {
    ...told,
    created_at,
    updated_at: created_at,
    created_by_identity_type: identity_type,
    created_by_user_id: identity_id,
    current_version: 1,
    revision: 1,
  }
}
