import type { AccountKeyStore } from '../account-keys.ts'
import type { WrappedKey } from '../wrapped-key.ts'

/** Account keys in memory, with the guarantees of the table: one row a version, one active row an account. */
export const memoryStore = () => {
  const rows: WrappedKey[] = []
  const reads = { count: 0 }
  const find = (account_id: string, wanted: (row: WrappedKey) => boolean) =>
    rows.find((row) => row.account_id === account_id && wanted(row)) ?? null
  const store: AccountKeyStore = {
    active: async (account_id) => {
      reads.count++
      return find(account_id, ({ state }) => state === 'active')
    },
    version: async (account_id, version) => {
      reads.count++
      return find(account_id, (row) => row.version === version)
    },
    insert: async (key) => {
      const taken = find(key.account_id, ({ version }) => version === key.version)
      if (taken) return taken
      const former = find(key.account_id, ({ state }) => state === 'active')
      if (former) former.state = 'decrypt_only'
      rows.push({ ...key })
      return key
    },
  }
  return { store, rows, reads }
}
