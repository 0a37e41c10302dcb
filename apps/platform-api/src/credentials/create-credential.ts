import { jsonTextOf, type RouteInput } from '@keelson/contracts'
import type { credentials } from '@keelson/contracts/platform'
import { boundTo, constraintOf, type Database } from '@keelson/database'
import { CREDENTIAL_NAME_UNIQUE } from '@keelson/database/platform'
import { auditInsert, type AuditedAct } from '@keelson/identity'
import type { AccountKeys } from '@keelson/secrets'
import { ApiError, typeId } from '@keelson/service-kit'
import { CREDENTIAL_COLUMNS, type CredentialRow } from './credential-row.ts'
import { sealPayload } from './payload.ts'

export type CredentialDeps = { db: Database; accountKeys: AccountKeys }

export type CreateCredential = Omit<AuditedAct, 'action'> & RouteInput<typeof credentials.createCredential>

/** Passes on what was thrown, a second credential of one name as an answer. */
export const refuseTakenName = (error: unknown): never => {
  if (constraintOf(error) !== CREDENTIAL_NAME_UNIQUE) throw error
  throw new ApiError('credential_exists', 'Another credential of the account has the name')
}

/**
 * Creates a credential with its first version and the audit row, in one statement.
 *
 * @throws ApiError `credential_exists`, `unavailable`
 */
export const createCredential = async (
  { db: { sql }, accountKeys }: CredentialDeps,
  { body, principal, requestId }: CreateCredential,
): Promise<CredentialRow> => {
  const { account_id, identity_id, identity_type } = principal
  const id = typeId('cred')
  const sealed = await sealPayload(accountKeys, { account_id, credential_id: id, version: 1 }, body.payload)
  const act = { principal, requestId, action: 'credential.create' }
  const metadata = body.credential_metadata === undefined ? '{}' : jsonTextOf(body.credential_metadata)
  const [row] = await sql<CredentialRow[]>`
    with ${boundTo(sql, account_id)}, credential as (
      insert into platform.credentials (account_id, id, name, description, type, credential_metadata,
        created_by_identity_type, created_by_user_id)
      select account_id, ${id}, ${body.name}, ${body.description ?? ''}, ${body.type}, ${metadata},
        ${identity_type}, ${identity_id}
      from bound returning *
    ), version as (
      insert into platform.credential_versions (account_id, credential_id, version, sealed)
      select account_id, id, current_version, ${sealed} from credential
    ), audited as (
      ${auditInsert(sql, act, sql`(select id as target_id, current_version as target_version, 'done' as outcome from credential)`)}
    )
    select ${sql(CREDENTIAL_COLUMNS)} from credential`.catch(refuseTakenName)
  return row as CredentialRow
}
