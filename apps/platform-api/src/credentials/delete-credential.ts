import { boundTo, type Database } from '@keelson/database'
import { auditInsert, type AuditedAct } from '@keelson/identity'
import { preconditionFailed, type Call } from '@keelson/service-kit'
import { credentialStore } from './store.ts'

export type DeleteCredential = Omit<AuditedAct, 'action'> & Pick<Call, 'ifMatch'> & { credential_id: string }

/**
 * Deletes a credential. Its versions go with it, and with each the salt its key was derived with.
 *
 * @throws ApiError `not_found`, `precondition_failed`
 */
export const deleteCredential = async (
  db: Pick<Database, 'sql'>,
  { credential_id, ifMatch, ...act }: DeleteCredential,
): Promise<void> => {
  const { sql } = db
  const { account_id } = act.principal
  const target = sql`(select id as target_id, current_version as target_version, 'done' as outcome from credential, bound)`
  const [deleted] = await sql`
    with ${boundTo(sql, account_id)}, credential as (
      delete from platform.credentials where account_id = ${account_id} and id = ${credential_id}
        and (${ifMatch === null} or revision::text = any (${[...(ifMatch ?? [])]}::text[]))
      returning id, current_version
    ), audited as (${auditInsert(sql, { ...act, action: 'credential.delete' }, target)})
    select id from credential`
  if (deleted) return
  await credentialStore(db, account_id).get(credential_id)
  preconditionFailed()
}
