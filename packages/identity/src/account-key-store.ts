import { withAccount, type Database, type Transaction } from '@keelson/database'
import type { AccountKeyStore, WrappedKey } from '@keelson/secrets'
import { auditWithin, operatorOf, serviceOf } from './audit-entry.ts'

const versionOf = async (tx: Transaction, account_id: string, version: number): Promise<WrappedKey | null> => {
  const [key] = await tx<WrappedKey[]>`
    select account_id, version, state, kek_id, wrapped from identity.account_keys
    where account_id = ${account_id} and version = ${version}::bigint`
  return key ?? null
}

/** An account's first key is made by the service that needs it, every other by an operator. */
const audit = (tx: Transaction, { account_id, version }: WrappedKey, isFirst: boolean): Promise<void> => {
  const act = isFirst
    ? { ...serviceOf(account_id), action: 'account_key.create' }
    : { ...operatorOf(account_id), action: 'account_key.rotate' }
  return auditWithin(tx, act, { target_id: account_id, target_version: version, outcome: 'done' })
}

/** Serialises writers of one account, so that the loser of a race finds the winner's row. */
const insert = async (tx: Transaction, { account_id, version, kek_id, wrapped }: WrappedKey): Promise<WrappedKey> => {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`account key ${account_id}`}, 0))`
  const earlier = await versionOf(tx, account_id, version)
  if (earlier !== null) return earlier
  const { count } = await tx`
    update identity.account_keys set state = 'decrypt_only' where account_id = ${account_id} and state = 'active'`
  const [key] = await tx<[WrappedKey]>`
    insert into identity.account_keys (account_id, version, state, kek_id, wrapped)
    values (${account_id}, ${version}, 'active', ${kek_id}, ${wrapped})
    returning account_id, version, state, kek_id, wrapped`
  await audit(tx, key, count === 0)
  return key
}

/** Where wrapped account keys are kept. The account must exist. */
export const accountKeyStore = (db: Pick<Database, 'sql'>): AccountKeyStore => ({
  active: (account_id) =>
    withAccount(db, account_id, async (tx) => {
      const [key] = await tx<WrappedKey[]>`
        select account_id, version, state, kek_id, wrapped from identity.account_keys
        where account_id = ${account_id} and state = 'active'`
      return key ?? null
    }),

  version: (account_id, version) => withAccount(db, account_id, (tx) => versionOf(tx, account_id, version)),

  insert: (key) => withAccount(db, key.account_id, (tx) => insert(tx, key)),
})
