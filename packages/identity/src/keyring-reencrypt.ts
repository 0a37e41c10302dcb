import { SEALED_COLUMNS, withAccount, type SealedColumn } from '@keelson/database'
import { IntegrityError, open, seal } from '@keelson/secrets'
import { auditWithin, operatorOf } from './audit-entry.ts'
import { activeVersion, forEveryAccount, type Keyring } from './keyring.ts'
import { contextOf, lockOldRows, replaceRows, type Place, type SealedRow } from './sealed-rows.ts'

export type Reencrypted = {
  done: number
  /** Records that did not open and stay as they are. */
  damaged: string[]
}

const BATCH_ROWS = 200

/**
 * Seals every record anew that is sealed under a key older than its account's active one. Readers are never in the way:
 * old and new bytes open alike. Each batch is a transaction,
 * with an audit row that names the key it was sealed under.
 *
 * @throws KeyProviderUnavailable
 */
export const reencryptRecords = async (
  keyring: Omit<Keyring, 'provider'>,
  onBatch: (rows: number) => void = () => {},
): Promise<Reencrypted> => {
  const { db, accountKeys, signal } = keyring
  const result: Reencrypted = { done: 0, damaged: [] }

  const sealAnew = async (at: SealedColumn, account_id: string, row: SealedRow): Promise<SealedRow | null> => {
    const context = contextOf(at, account_id, row)
    try {
      const plaintext = await open(accountKeys, context, row.sealed)
      const sealed = await seal(accountKeys, context, plaintext)
      plaintext.fill(0)
      return { ...row, sealed }
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw error
      result.damaged.push(`${at.table} ${account_id} ${row.record_id} version ${row.record_version}: ${error.message}`)
      return null
    }
  }

  const batch = (at: SealedColumn, account_id: string, version: number, last?: Place) =>
    withAccount(db, account_id, async (tx) => {
      const rows = await lockOldRows(tx, at, version, last, BATCH_ROWS)
      const made: SealedRow[] = []
      for (const row of rows) {
        const anew = await sealAnew(at, account_id, row)
        if (anew) made.push(anew)
      }
      if (made.length > 0) {
        await replaceRows(tx, at, made)
        const target = { target_id: account_id, target_version: version, outcome: 'done' as const }
        await auditWithin(tx, { ...operatorOf(account_id), action: 'account_key.reencrypt' }, target)
      }
      return { made: made.length, last: rows.at(-1) }
    })

  await forEveryAccount(keyring, async (account_id) => {
    const version = await activeVersion(db, account_id)
    if (version === null) return
    for (const at of SEALED_COLUMNS) {
      for (let last: Place | undefined; ;) {
        signal.throwIfAborted()
        const { made, last: reached } = await batch(at, account_id, version, last)
        result.done += made
        if (!reached) break
        onBatch(made)
        last = reached
      }
    }
  })
  return result
}
