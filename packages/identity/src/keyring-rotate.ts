import { withAccount } from '@keelson/database'
import { SYSTEM_ACCOUNT } from '@keelson/secrets'
import { operatorOf, recordAudit } from './audit-entry.ts'
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
    const { version } = await keyring.accountKeys.rotate(account_id)
    const target = { target_id: account_id, target_version: version, outcome: 'done' as const }
    await recordAudit(keyring.db, { ...operatorOf(account_id), action: 'account_key.rotate' }, target)
    done += 1
  }
  await forEveryAccount(keyring, rotate, account)
  return done
}
