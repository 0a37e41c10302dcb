import { withAccount, type Transaction } from '@keelson/database'
import { rewrap, type WrappedKey } from '@keelson/secrets'
import { auditWithin, operatorOf } from './audit-entry.ts'
import { forEveryAccount, keysOf, type Keyring } from './keyring.ts'

type Wrapping = Pick<WrappedKey, 'kek_id' | 'wrapped'>

/** Writes a wrapping over the one it was made from. @returns how many rows, 0 when that is no longer there */
const replace = async (
  tx: Transaction,
  { account_id, version, kek_id }: WrappedKey,
  next: Wrapping,
): Promise<number> => {
  const { count } = await tx`
    update identity.account_keys set kek_id = ${next.kek_id}, wrapped = ${next.wrapped}
    where account_id = ${account_id} and version = ${version} and kek_id = ${kek_id} and state <> 'destroyed'`
  const target = { target_id: account_id, target_version: version, outcome: 'done' as const }
  if (count > 0) await auditWithin(tx, { ...operatorOf(account_id), action: 'account_key.rewrap' }, target)
  return count
}

/**
 * Wraps every account key under the provider's current key-encryption key. Records stay as they are. A row that changed
 * meanwhile is left to whoever changed it.
 *
 * @returns how many were wrapped anew
 * @throws KeyProviderUnavailable, UnknownKeyEncryptionKey, IntegrityError
 */
export const rewrapKeys = async (keyring: Omit<Keyring, 'accountKeys'>): Promise<number> => {
  const { db, provider } = keyring
  let done = 0
  await forEveryAccount(keyring, async (account_id) => {
    const keys = await withAccount(db, account_id, keysOf)
    for (const key of keys) {
      if (key.state === 'destroyed' || key.kek_id === provider.id) continue
      const next = await rewrap(provider, key)
      done += await withAccount(db, account_id, (tx) => replace(tx, key, next))
    }
  })
  return done
}
