import type { Database } from '@keelson/database'
import { identityStore, openAccountKeys, systemSecret } from '@keelson/identity'
import type { Account } from '../client.ts'

/** Stands in everything an account stores. */
export const CANARIES = ['canary-of-anna', 'canary-of-bert'] as const

/** Two accounts, each of which must never see the other's canary. */
export const issueAccounts = async (db: Database, KEY_FILE: string): Promise<Account[]> => {
  const pepper = await systemSecret(await openAccountKeys(db, { KEY_FILE }), 'api-key.pepper')
  const store = identityStore(db, pepper)
  const issue = async (canary: string, foreignCanary: string): Promise<Account> => {
    const { account_id } = await store.createAccount(canary)
    const { id: identity_id } = await store.createIdentity({ account_id, type: 'user', name: 'chaos' })
    const { token } = await store.issueKey({ account_id, identity_id, name: 'chaos' })
    return { account_id, api_key: token, canary, foreignCanary }
  }
  const [anna, bert] = CANARIES
  return [await issue(anna, bert), await issue(bert, anna)]
}
