import { randomUUID } from 'node:crypto'
import { identityStore } from '@keelson/identity'
import type { Database } from '@keelson/database'
import type { Scope } from '@keelson/contracts'

/** What test keys are hashed under. */
export const TEST_PEPPER = Buffer.alloc(32, 'pepper')

export type TestAccount = { account_id: string; identity_id: string; key_id: string; token: string }

/** An account of its own with a user and an API key, so that tests of one database do not meet. */
export const testAccount = async (db: Database, { scopes }: { scopes?: Scope[] } = {}): Promise<TestAccount> => {
  const identities = identityStore(db, TEST_PEPPER)
  const { account_id } = await identities.createAccount(`test ${randomUUID()}`)
  const identity = await identities.createIdentity({ account_id, type: 'user', name: 'test' })
  const { id, token } = await identities.issueKey({ account_id, identity_id: identity.id, scopes })
  return { account_id, identity_id: identity.id, key_id: id, token }
}
