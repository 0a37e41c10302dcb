import { JsonText } from '@keelson/contracts'
import type { Credential } from '@keelson/contracts/platform'

/** A credential as it is stored, without its secret. */
export type CredentialRow = Omit<Credential, 'credential_metadata' | 'object'> & {
  credential_metadata: string
  current_version: number
}

export const CREDENTIAL_COLUMNS = [
  'id',
  'created_at',
  'created_by_identity_type',
  'created_by_user_id',
  'credential_metadata',
  'description',
  'name',
  'type',
  'updated_at',
  'current_version',
] as const

/** The credential as its readers see it: its version is ours alone. */
export const presentCredential = ({
  credential_metadata,
  current_version: _version,
  ...row
}: CredentialRow): Credential => ({
  ...row,
  credential_metadata: new JsonText(credential_metadata),
  object: 'credential',
})
