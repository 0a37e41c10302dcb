import { withAccount } from '@keelson/database'
import { rewrap } from '@keelson/secrets'
import { forEveryAccount, keysOf, type Keyring } from './keyring.ts'

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
      const { kek_id, wrapped } = await rewrap(provider, key)
      const { count } = await withAccount(
        db,
        account_id,
        async (tx) => tx`
        update identity.account_keys set kek_id = ${kek_id}, wrapped = ${wrapped}
        where account_id = ${account_id} and version = ${key.version} and kek_id = ${key.kek_id} and state <> 'destroyed'`,
      )
      done += count
    }
  })
  return done
}
