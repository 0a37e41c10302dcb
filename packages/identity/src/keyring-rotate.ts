import { withAccount } from '@keelson/database'
import { SYSTEM_ACCOUNT } from '@keelson/secrets'
import { forEveryAccount, type Keyring } from './keyring.ts'

export type RotateOptions = {
  /** This account only. */
  account?: string | undefined
  /** Only accounts whose active key is older than this. */
  olderThanMs: number
}

/**
 * Gives accounts a new active key; the former one opens what it sealed. Services seal under the new one as soon as they
 * look again. The installation's own key stays: what is derived from it must not change.
 *
 * @returns how many accounts have a new key
 * @throws KeyProviderUnavailable
 */
export const rotateKeys = async (keyring: Keyring, { account, olderThanMs }: RotateOptions): Promise<number> => {
  let done = 0
  const rotate = async (account_id: string): Promise<void> => {
    if (account_id === SYSTEM_ACCOUNT) return
    const [old] = await withAccount(
      keyring.db,
      account_id,
      async (tx) => tx`
      select 1 from identity.account_keys where account_id = ${account_id} and state = 'active'
        and created_at <= now() - ${olderThanMs} * interval '1 millisecond'`,
    )
    if (!old) return
    await keyring.accountKeys.rotate(account_id)
    done += 1
  }
  await forEveryAccount(keyring, rotate, account)
  return done
}
