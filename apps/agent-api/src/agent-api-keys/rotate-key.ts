import { sqlStateOf, withAccount } from '@keelson/database'
import { auditWithin, type AuditedBy } from '@keelson/identity'
import { ApiError } from '@keelson/service-kit'
import { agentStore } from '../agents/store.ts'
import type { KeyDeps } from './create-key.ts'
import { keyColumns, type KeyRow } from './key-row.ts'
import { sealSecret } from './sealed-secret.ts'
import { secretValue } from './secret-value.ts'
import { keyStore } from './store.ts'

export type Rotation = AuditedBy & { key_id: string; secret: string | undefined; graceSeconds: number }

const UNIQUE_VIOLATION = '23505'

const refuseRace = (error: unknown): never => {
  if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error
  throw new ApiError('unavailable', 'The key is being rotated by another request')
}

/**
 * Gives a key a new secret; the one before it verifies too until the grace period is over.
 *
 * @throws ApiError `not_found`, `invalid_request`, `unavailable`
 */
export const rotateKey = async (deps: KeyDeps, { key_id, secret, graceSeconds, ...by }: Rotation) => {
  const { account_id } = by.principal
  const { db, accountKeys, keyring } = deps
  const key = await keyStore(db, account_id).get({ id: key_id })
  const { told, kept } = secretValue(key, secret)
  const newest = await withAccount(db, account_id, async (tx) => {
    const [row] = await tx<{ version: number }[]>`
      select max(version) as version from agent.agent_api_key_secrets
      where account_id = ${account_id} and key_id = ${key_id}`
    return row!.version
  })
  const sealed = await sealSecret(accountKeys, { account_id, key_id, version: newest + 1 }, kept)
  const rotate = withAccount(db, account_id, async (tx) => {
    await tx`
      insert into agent.agent_api_key_secrets (account_id, key_id, version, sealed)
      values (${account_id}, ${key_id}, ${newest + 1}, ${sealed})`
    await tx`
      delete from agent.agent_api_key_secrets where account_id = ${account_id} and key_id = ${key_id}
        and version < ${graceSeconds === 0 ? newest + 1 : newest}`
    await tx`
      update agent.agent_api_key_secrets set expires_at = now() + ${graceSeconds} * interval '1 second'
      where account_id = ${account_id} and key_id = ${key_id} and version = ${newest}`
    const [row] = await tx<KeyRow[]>`
      update agent.agent_api_keys
      set rotated_at = now(), previous_expires_at = now() + ${graceSeconds} * interval '1 second'
      where account_id = ${account_id} and id = ${key_id} returning ${keyColumns(tx as never)}`
    const target = { target_id: key_id, target_version: newest + 1, outcome: 'done' as const }
    await auditWithin(tx, { ...by, action: 'agent_api_key.rotate' }, target)
    return row!
  })
  const row = await rotate.catch(refuseRace)
  keyring.forget((await agentStore(db, account_id).get({ agent_id: row.agent_id })).name)
  return { ...row, api_key: told }
}
