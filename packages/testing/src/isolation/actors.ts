import { SCOPES, type Scope } from '@keelson/contracts'
import type { Database } from '@keelson/database'
import { generateKey, identityStore } from '@keelson/identity'
import { TEST_PEPPER, testAccount, type TestAccount } from '../test-account.ts'

/** Somebody who calls, and the answer they get whatever they ask about. */
export type Refused = { actor: string; headers: Record<string, string>; code: 'unauthenticated' | 'missing_scope' }

export type Service = 'platform-api' | 'agent-api'

/** The headers that carry a key to a service. */
export const keyHeaders = (service: Service, token: string): Record<string, string> =>
  service === 'platform-api' ? { 'x-api-key': token } : { authorization: `Bearer ${token}` }

const twoHeaders = (service: Service, one: string, other: string): Record<string, string> =>
  service === 'platform-api'
    ? { 'x-api-key': `${one}, ${other}` }
    : { authorization: `Bearer ${one}`, 'x-agent-api-key': other }

const otherService = (service: Service): Service => (service === 'platform-api' ? 'agent-api' : 'platform-api')

/** Everybody who must be refused, with keys of an account that has everything: only the key is wrong. */
export const refusedActors = async (
  db: Database,
  service: Service,
  { account_id, identity_id, token }: TestAccount,
): Promise<(scope: Scope | null) => Promise<Refused[]>> => {
  const identities = identityStore(db, TEST_PEPPER)
  const issue = (request = {}) => identities.issueKey({ account_id, identity_id, ...request })
  const [revoked, expired] = [await issue(), await issue({ expires_at: '2020-01-01T00:00:00Z' })]
  await identities.revokeKey({ account_id, id: revoked.id })
  const unauthenticated: [actor: string, headers: Record<string, string>][] = [
    ['no key', {}],
    ['malformed key', keyHeaders(service, 'not-a-key')],
    ['key with a wrong checksum', keyHeaders(service, `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`)],
    ['unknown key', keyHeaders(service, generateKey('user'))],
    ['revoked key', keyHeaders(service, revoked.token)],
    ['expired key', keyHeaders(service, expired.token)],
    ["key in the other service's header", keyHeaders(otherService(service), token)],
    ['two keys', twoHeaders(service, token, generateKey('user'))],
  ]
  const always = unauthenticated.map(([actor, headers]) => ({ actor, headers, code: 'unauthenticated' as const }))
  const lacking = new Map<Scope, string>()
  return async (scope) => {
    if (scope === null) return always
    const without = lacking.get(scope) ?? (await issue({ scopes: SCOPES.filter((other) => other !== scope) })).token
    lacking.set(scope, without)
    return [...always, { actor: `key without ${scope}`, headers: keyHeaders(service, without), code: 'missing_scope' }]
  }
}

/** An account and another one, both with keys that may do everything. */
export const twoAccounts = async (db: Database): Promise<{ owner: TestAccount; stranger: TestAccount }> => ({
  owner: await testAccount(db),
  stranger: await testAccount(db),
})
