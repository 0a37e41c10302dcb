import type { Database } from '@keelson/database'
import { accountStore } from './account-store.ts'
import { keyDigest } from './key-digest.ts'
import { keyStore } from './key-store.ts'

/**
 * Accounts, the identities in them and the API keys of those.
 *
 * @param pepper what keys are hashed under, see `systemSecret`
 */
export const identityStore = (db: Pick<Database, 'sql'>, pepper: Buffer) => ({
  ...accountStore(db),
  ...keyStore(db, keyDigest(pepper)),
})

export type IdentityStore = ReturnType<typeof identityStore>
