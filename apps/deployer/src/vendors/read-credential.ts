import { randomUUID } from 'node:crypto'
import { boundTo, type Database } from '@keelson/database'
import { auditInsert } from '@keelson/identity'
import { open, type AccountKeys } from '@keelson/secrets'
import type { ResolveCredential } from './environment.ts'

type Found = { id: string; version: number; sealed: Buffer | null }

/** Who reads, in the audit log: nobody's API key, but this worker. */
const DEPLOYER = { key_id: 'deployer', identity_id: 'deployer', identity_type: 'service_account' } as const

/**
 * Reads credentials for vendor calls. Ciphertext and audit row are one statement, as for every other reveal: without
 * the row there is no secret.
 *
 * @throws (each call) IntegrityError, KeyProviderUnavailable, and what the database throws
 */
export const credentialReader =
  ({ sql }: Pick<Database, 'sql'>, accountKeys: AccountKeys): ResolveCredential =>
  async (account_id, name) => {
    const act = { principal: { account_id, ...DEPLOYER }, requestId: randomUUID(), action: 'credential.reveal' }
    const target = sql`(
      select found.id as target_id, found.version as target_version,
        case when found.id is null then 'not_found' else 'granted' end as outcome
      from bound left join found on true)`
    const [found] = await sql<Found[]>`
      with ${boundTo(sql, account_id)}, found as materialized (
        select credential.id, credential.version, sealed_version.sealed from bound
        cross join lateral (
          select id, current_version as version from platform.credentials
          where account_id = bound.account_id and name = ${name} offset 0
        ) as credential
        left join lateral (
          select sealed from platform.credential_versions
          where account_id = bound.account_id and credential_id = credential.id and version = credential.version offset 0
        ) as sealed_version on true
      ), audited as (${auditInsert(sql, act, target)})
      select id, version, sealed from found`
    if (!found?.sealed) return null
    const context = { purpose: 'credential.payload', account_id, record_id: found.id, record_version: found.version }
    return (await open(accountKeys, context, found.sealed)).toString()
  }
