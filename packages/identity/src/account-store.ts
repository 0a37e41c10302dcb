import { constraintOf, type Database } from '@keelson/database'
import type { IdentityType } from '@keelson/database/identity'
import { ApiError, notFound, typeId } from '@keelson/service-kit'

export type Account = { account_id: string; name: string; created_at: string }
export type Identity = { account_id: string; id: string; type: IdentityType; name: string; created_at: string }

const ID_PREFIXES = { user: 'user', service_account: 'svc' } as const satisfies Record<IdentityType, string>

/** Accounts and the identities in them. */
export const accountStore = (db: Pick<Database, 'sql'>) => ({
  /** @throws ApiError `invalid_request` when the name is taken */
  async createAccount(name: string): Promise<Account> {
    const [account] = await db.sql<Account[]>`
      insert into identity.accounts (account_id, name) values (${typeId('acct')}, ${name})
      on conflict on constraint accounts_name_key do nothing returning account_id, name, created_at`
    if (!account) throw new ApiError('invalid_request', 'An account of this name exists')
    return account
  },

  listAccounts: async (): Promise<Account[]> =>
    db.sql<Account[]>`
      select account_id, name, created_at from identity.accounts where account_id <> 'system' order by created_at, account_id`,

  /** @throws ApiError `not_found` for an unknown account, `invalid_request` when it has an identity of this name */
  async createIdentity({ account_id, type, name }: Pick<Identity, 'account_id' | 'type' | 'name'>): Promise<Identity> {
    const inserted = db.sql<Identity[]>`
      insert into identity.identities (account_id, id, type, name)
      values (${account_id}, ${typeId(ID_PREFIXES[type])}, ${type}, ${name})
      on conflict on constraint identities_name_key do nothing returning account_id, id, type, name, created_at`
    const [identity] = await inserted.catch((error: unknown) => {
      if (constraintOf(error) === 'identities_account_id_fkey') return notFound('account')
      throw error
    })
    if (!identity) throw new ApiError('invalid_request', 'An identity of this name exists')
    return identity
  },

  /** The identity of this name, made when there is none. @throws ApiError `not_found` for an unknown account */
  async ensureIdentity(wanted: Pick<Identity, 'account_id' | 'type' | 'name'>): Promise<Pick<Identity, 'id'>> {
    const { account_id, type, name } = wanted
    const find = () => db.sql<{ id: string }[]>`
      select id from identity.identities where account_id = ${account_id} and name = ${name} and type = ${type}`
    const [found] = await find()
    if (found) return found
    return this.createIdentity(wanted).catch(async (error: unknown) => (await find())[0] ?? Promise.reject(error))
  },

  listIdentities: async (account_id: string): Promise<Identity[]> =>
    db.sql<Identity[]>`
      select account_id, id, type, name, created_at from identity.identities
      where account_id = ${account_id} order by created_at, id`,
})
