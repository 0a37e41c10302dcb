import { JsonText } from '@keelson/contracts'
import type { Credential } from '@keelson/contracts/platform'

/** A credential as it is stored, without its secret. */
export type CredentialRow = Omit<Credential, 'credential_metadata' | 'object'> & {
  credential_metadata: string
  current_version: number
  revision: number
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
  'revision',
] as const

/** The credential as its readers see it: its version is ours alone, its revision a header. */
export const presentCredential = ({
  credential_metadata,
  current_version: _version,
  revision: _revision,
  ...row
}: CredentialRow): Credential => ({
  ...row,
  credential_metadata: new JsonText(credential_metadata),
  object: 'credential',
})
