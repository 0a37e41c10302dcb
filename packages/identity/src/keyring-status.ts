import { SEALED_COLUMNS, withAccount } from '@keelson/database'
import { forEveryAccount, keysOf, type Keyring } from './keyring.ts'
import { countByKeyVersion } from './sealed-rows.ts'

export type KeyringStatus = {
  /** Account keys that are still needed, by the key-encryption key that wraps them. */
  wrapped: Record<string, number>
  /** By table: all sealed records, and those sealed under an account key that is not the active one. */
  records: Record<string, { sealed: number; behind: number }>
  /** Account keys by state. */
  states: Record<string, number>
}

/** Counts keys and sealed records; opens nothing. */
export const keyringStatus = async (keyring: Pick<Keyring, 'db' | 'signal'>): Promise<KeyringStatus> => {
  const status: KeyringStatus = { wrapped: {}, records: {}, states: {} }
  for (const { table } of SEALED_COLUMNS) status.records[table] = { sealed: 0, behind: 0 }
  await forEveryAccount(keyring, (account_id) =>
    withAccount(keyring.db, account_id, async (tx) => {
      const keys = await keysOf(tx)
      for (const { state, kek_id } of keys) {
        status.states[state] = (status.states[state] ?? 0) + 1
        if (state !== 'destroyed') status.wrapped[kek_id] = (status.wrapped[kek_id] ?? 0) + 1
      }
      const active = keys.find(({ state }) => state === 'active')?.version ?? 0
      for (const at of SEALED_COLUMNS) {
        const records = status.records[at.table]!
        for (const { version, count } of await countByKeyVersion(tx, at)) {
          records.sealed += count
          if (version < active) records.behind += count
        }
      }
    }),
  )
  return status
}
