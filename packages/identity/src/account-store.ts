import { boundTo, constraintOf, type Database } from '@keelson/database'
import type { IdentityType } from '@keelson/database/identity'
import { ApiError, notFound, typeId } from '@keelson/service-kit'
import { auditInsert, operatorOf, type AuditedBy } from './audit-entry.ts'

export type Account = { account_id: string; name: string; created_at: string }
export type Identity = { account_id: string; id: string; type: IdentityType; name: string; created_at: string }

export type NewIdentity = Pick<Identity, 'account_id' | 'type' | 'name'>

const ID_PREFIXES = { user: 'user', service_account: 'svc' } as const satisfies Record<IdentityType, string>

/** Accounts and the identities in them; what is made leaves its audit row in the same statement. */
export const accountStore = (db: Pick<Database, 'sql'>) => ({
  /** @throws ApiError `invalid_request` when the name is taken */
  async createAccount(name: string): Promise<Account> {
    const { sql } = db
    const account_id = typeId('acct')
    const act = { ...operatorOf(account_id), action: 'account.create' }
    const [account] = await sql<Account[]>`
      with ${boundTo(sql, account_id)}, account as (
        insert into identity.accounts (account_id, name) select ${account_id}, ${name} from bound
        on conflict on constraint accounts_name_key do nothing returning account_id, name, created_at
      ), audited as (
        ${auditInsert(sql, act, sql`(select account_id as target_id, null::integer as target_version, 'done' as outcome from account)`)}
      )
      select * from account`
    if (!account) throw new ApiError('invalid_request', 'An account of this name exists')
    return account
  },

  listAccounts: async (): Promise<Account[]> =>
    db.sql<Account[]>`
      select account_id, name, created_at from identity.accounts where account_id <> 'system' order by created_at, account_id`,

  /** @throws ApiError `not_found` for an unknown account, `invalid_request` when it has an identity of this name */
  async createIdentity({ account_id, type, name }: NewIdentity, by = operatorOf(account_id)): Promise<Identity> {
    const { sql } = db
    const act = { ...by, action: 'identity.create' }
    const inserted = sql<Identity[]>`
      with ${boundTo(sql, account_id)}, made as (
        insert into identity.identities (account_id, id, type, name)
        select ${account_id}, ${typeId(ID_PREFIXES[type])}, ${type}, ${name} from bound
        on conflict on constraint identities_name_key do nothing returning account_id, id, type, name, created_at
      ), audited as (
        ${auditInsert(sql, act, sql`(select id as target_id, null::integer as target_version, 'done' as outcome from made)`)}
      )
      select * from made`
    const [identity] = await inserted.catch((error: unknown) => {
      if (constraintOf(error) === 'identities_account_id_fkey') return notFound('account')
      throw error
    })
    if (!identity) throw new ApiError('invalid_request', 'An identity of this name exists')
    return identity
  },

  /** The identity of this name, made when there is none. @throws ApiError `not_found` for an unknown account */
  async ensureIdentity(wanted: NewIdentity, by?: AuditedBy): Promise<Pick<Identity, 'id'>> {
    const { account_id, type, name } = wanted
    const find = () => db.sql<{ id: string }[]>`
      select id from identity.identities where account_id = ${account_id} and type = ${type}
        and name between ${name} and ${name} order by name`
    const [found] = await find()
    if (found) return found
    return this.createIdentity(wanted, by).catch(async (error: unknown) => (await find())[0] ?? Promise.reject(error))
  },

  listIdentities: async (account_id: string): Promise<Identity[]> =>
    db.sql<Identity[]>`
      select account_id, id, type, name, created_at from identity.identities
      where account_id = ${account_id} order by created_at, id`,
})
