import type { Database } from '@keelson/database'
import { identityStore, type IdentityStore } from './identity-store.ts'
import { keyDigest } from './key-digest.ts'
import { isKey } from './key-format.ts'

export type LocalAccount = { account_id: string; identity_id: string; api_key: string }

const NAME = 'local'

const account = async (store: IdentityStore): Promise<string> => {
  const find = async () => (await store.listAccounts()).find(({ name }) => name === NAME)
  return ((await find()) ?? (await store.createAccount(NAME))).account_id
}

const user = async (store: IdentityStore, account_id: string): Promise<string> => {
  const found = (await store.listIdentities(account_id)).find(({ name }) => name === NAME)
  return (found ?? (await store.createIdentity({ account_id, type: 'user', name: NAME }))).id
}

/**
 * The account, user and API key of a laptop, made on the first call. A key handed out before is kept while it works;
 * otherwise a new one is issued, since keys cannot be read back.
 */
export const bootstrapLocalAccount = async (
  db: Pick<Database, 'sql'>,
  pepper: Buffer,
  earlierKey?: string,
): Promise<LocalAccount> => {
  const store = identityStore(db, pepper)
  const account_id = await account(store)
  const identity_id = await user(store, account_id)
  if (earlierKey !== undefined && isKey(earlierKey, 'user')) {
    const [live] = await db.sql`
      select from identity.find_api_key(${keyDigest(pepper).hash(earlierKey)})
      where account_id = ${account_id} and (expires_in_ms is null or expires_in_ms > 0)`
    if (live) return { account_id, identity_id, api_key: earlierKey }
  }
  const { token } = await store.issueKey({ account_id, identity_id, name: NAME })
  return { account_id, identity_id, api_key: token }
}
