import { jsonTextOf, type RouteInput } from '@keelson/contracts'
import { isPayloadOf, PAYLOAD_NO_JSON, type credentials } from '@keelson/contracts/platform'
import { boundTo } from '@keelson/database'
import { auditInsert, openPayload, recordAudit, secretProblem, type AuditedAct } from '@keelson/identity'
import { IntegrityError } from '@keelson/secrets'
import { ApiError, requireMatch, type Call } from '@keelson/service-kit'
import { refuseTakenName, type CredentialDeps } from './create-credential.ts'
import { CREDENTIAL_COLUMNS, type CredentialRow } from './credential-row.ts'
import { sealPayload } from './payload.ts'
import { credentialStore } from './store.ts'

export type UpdateCredential = Omit<AuditedAct, 'action'> &
  RouteInput<typeof credentials.updateCredential> &
  Pick<Call, 'ifMatch'>

const ACTION = 'credential.update'

const checkPayload = (type: CredentialRow['type'], payload: string): void => {
  if (isPayloadOf(type, payload)) return
  const errors = [{ path: 'payload', message: PAYLOAD_NO_JSON }]
  throw new ApiError('invalid_request', 'The request is not valid', { errors })
}

/** The payload of a credential that is about to be called JSON. */
const currentPayload = async (
  { db, accountKeys }: CredentialDeps,
  { id, current_version }: CredentialRow,
  { principal, requestId }: UpdateCredential,
): Promise<string> => {
  const { account_id } = principal
  const { sql } = db
  const [version] = await sql<{ sealed: Buffer }[]>`
    with ${boundTo(sql, account_id)}
    select version.sealed from bound cross join lateral (
      select sealed from platform.credential_versions
      where account_id = bound.account_id and credential_id = ${id} and version = ${current_version} offset 0
    ) as version`
  try {
    return await openPayload(accountKeys, account_id, { id, current_version, sealed: version?.sealed ?? null })
  } catch (error) {
    if (error instanceof IntegrityError) {
      const target = { target_id: id, target_version: current_version, outcome: 'integrity_failure' as const }
      await recordAudit(db, { principal, requestId, action: ACTION }, target)
    }
    throw secretProblem(error)
  }
}

/** Writes what is given, as long as the revision is still the one that was seen; `null` when it is not. */
const write = async (
  { db: { sql } }: CredentialDeps,
  { params, body, principal, requestId }: UpdateCredential,
  seen: CredentialRow,
  sealed: Buffer | null,
): Promise<CredentialRow | null> => {
  const { account_id } = principal
  const metadata = body.credential_metadata === undefined ? null : jsonTextOf(body.credential_metadata)
  const target = sql`(select id as target_id, current_version as target_version, 'done' as outcome from credential, bound)`
  const [row] = await sql<CredentialRow[]>`
    with ${boundTo(sql, account_id)}, credential as (
      update platform.credentials set
        name = coalesce(${body.name ?? null}, name),
        description = coalesce(${body.description ?? null}, description),
        type = coalesce(${body.type ?? null}, type),
        credential_metadata = coalesce(${metadata}, credential_metadata),
        current_version = current_version + ${sealed === null ? 0 : 1},
        updated_at = greatest(now(), updated_at)
      where account_id = ${account_id} and id = ${params.credential_id}
        and revision = ${seen.revision}
      returning *
    ), version as (
      insert into platform.credential_versions (account_id, credential_id, version, sealed)
      select bound.account_id, id, current_version, ${sealed}::bytea from credential, bound where ${sealed !== null}
    ), audited as (${auditInsert(sql, { principal, requestId, action: ACTION }, target)})
    select ${sql(CREDENTIAL_COLUMNS)} from credential`.catch(refuseTakenName)
  return row ?? null
}

const attempt = async (deps: CredentialDeps, request: UpdateCredential, seen: CredentialRow) => {
  const { body, principal } = request
  const type = body.type ?? seen.type
  if (body.payload !== undefined) checkPayload(type, body.payload)
  else if (type === 'json' && seen.type !== 'json') checkPayload(type, await currentPayload(deps, seen, request))
  const place = { account_id: principal.account_id, credential_id: seen.id, version: seen.current_version + 1 }
  const sealed = body.payload === undefined ? null : await sealPayload(deps.accountKeys, place, body.payload)
  return write(deps, request, seen, sealed)
}

/**
 * Changes what is given. A new payload is sealed as the next version; anything else leaves the ciphertext alone.
 *
 * @throws ApiError `not_found`, `credential_exists`, `invalid_request` for a payload that is not what the type says,
 * `credential_integrity_error`, `precondition_failed`, `unavailable`
 */
export const updateCredential = async (deps: CredentialDeps, request: UpdateCredential): Promise<CredentialRow> => {
  const store = credentialStore(deps.db, request.principal.account_id)
  for (;;) {
    const seen = await store.get(request.params.credential_id)
    requireMatch(request.ifMatch, seen.revision)
    if (Object.values(request.body).every((value) => value === undefined)) return seen
    const written = await attempt(deps, request, seen)
    if (written) return written
  }
}
