import { withAccount, type Database, type Transaction } from '@keelson/database'
import type { AccountKeys, KeyProvider, WrappedKey } from '@keelson/secrets'

/** What the work on keys needs. Everything it does may stop anywhere and be started again. */
export type Keyring = {
  db: Pick<Database, 'sql'>
  provider: KeyProvider
  accountKeys: AccountKeys
  /** Stops between two batches. */
  signal: AbortSignal
}

/** Runs some work once for every account, the installation's own included, bound to it. */
export const forEveryAccount = async (
  { db, signal }: Pick<Keyring, 'db' | 'signal'>,
  work: (account_id: string) => Promise<void>,
  only?: string,
): Promise<void> => {
  const accounts = await db.sql<{ account_id: string }[]>`
    select account_id from identity.accounts ${only === undefined ? db.sql`` : db.sql`where account_id = ${only}`}
    order by account_id`
  for (const { account_id } of accounts) {
    signal.throwIfAborted()
    await work(account_id)
  }
}

/** The keys of the bound account, oldest first. */
export const keysOf = async (tx: Transaction) => tx<(WrappedKey & { created_at: string })[]>`
  select account_id, version, state, kek_id, wrapped, created_at from identity.account_keys
  where account_id = current_setting('keelson.account_id') order by version`

/** The version new records of an account are sealed under; `null` when it has no key yet. */
export const activeVersion = (db: Pick<Database, 'sql'>, account_id: string): Promise<number | null> =>
  withAccount(db, account_id, async (tx) => (await keysOf(tx)).find(({ state }) => state === 'active')?.version ?? null)
