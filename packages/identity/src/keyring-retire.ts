import { SEALED_COLUMNS, withAccount, type Transaction } from '@keelson/database'
import { SYSTEM_ACCOUNT } from '@keelson/secrets'
import { auditWithin, operatorOf } from './audit-entry.ts'
import { forEveryAccount, keysOf, type Keyring } from './keyring.ts'
import { keyringStatus } from './keyring-status.ts'
import { countByKeyVersion } from './sealed-rows.ts'

export type Retired = {
  /** Account keys destroyed. */
  destroyed: number
  /** Key-encryption keys that services no longer ask for. */
  forgotten: string[]
  /** What could not be retired, and why. */
  kept: string[]
}

const recordsUnder = async (tx: Transaction, version: number): Promise<number> => {
  let count = 0
  for (const at of SEALED_COLUMNS) {
    for (const row of await countByKeyVersion(tx, at)) if (row.version === version) count += row.count
  }
  return count
}

/** Whether a service could still be sealing under the former key: it remembers which one is active. */
const isSettled = async (tx: Transaction, settledMs: number): Promise<boolean> => {
  const [row] = await tx<{ is_settled: boolean }[]>`
    select coalesce(max(created_at) < now() - ${settledMs} * interval '1 millisecond', false) as is_settled
    from identity.account_keys where account_id = current_setting('keelson.account_id') and state = 'active'`
  return row?.is_settled ?? false
}

const destroyUnused = async (tx: Transaction, settledMs: number, retired: Retired): Promise<void> => {
  const former = (await keysOf(tx)).filter(({ state }) => state === 'decrypt_only')
  if (former.length === 0) return
  const settled = await isSettled(tx, settledMs)
  for (const { account_id, version } of former) {
    const records = await recordsUnder(tx, version)
    const why =
      records > 0 ? `${records} records are sealed under it: reencrypt` : settled ? null : 'its successor is too young'
    if (why !== null) {
      retired.kept.push(`key ${version} of account ${account_id}: ${why}`)
      continue
    }
    await tx`
      update identity.account_keys set state = 'destroyed', wrapped = ''
      where account_id = ${account_id} and version = ${version} and state = 'decrypt_only'`
    const target = { target_id: account_id, target_version: version, outcome: 'done' as const }
    await auditWithin(tx, { ...operatorOf(account_id), action: 'account_key.destroy' }, target)
    retired.destroyed += 1
  }
}

/**
 * Destroys account keys that no record is sealed under and whose successor has been active for `settledMs`, and lets go
 * of key-encryption keys that wrap nothing any more, so that services start without them.
 */
export const retireKeys = async (keyring: Omit<Keyring, 'accountKeys'>, settledMs: number): Promise<Retired> => {
  const { db, provider } = keyring
  const retired: Retired = { destroyed: 0, forgotten: [], kept: [] }
  await forEveryAccount(keyring, async (account_id) => {
    if (account_id === SYSTEM_ACCOUNT) return
    await withAccount(db, account_id, (tx) => destroyUnused(tx, settledMs, retired))
  })
  const { wrapped } = await keyringStatus(keyring)
  const canaries = await db.sql<{ kek_id: string }[]>`
    select kek_id from identity.key_canary where kek_id <> ${provider.id} order by kek_id`
  for (const { kek_id } of canaries) {
    if (wrapped[kek_id]) {
      retired.kept.push(`${kek_id}: wraps ${wrapped[kek_id]} account keys: rewrap`)
      continue
    }
    await withAccount(db, SYSTEM_ACCOUNT, async (tx) => {
      await tx`delete from identity.key_canary where kek_id = ${kek_id}`
      const target = { target_id: kek_id, target_version: null, outcome: 'done' as const }
      await auditWithin(tx, { ...operatorOf(SYSTEM_ACCOUNT), action: 'key_encryption_key.forget' }, target)
    })
    retired.forgotten.push(kek_id)
  }
  return retired
}
