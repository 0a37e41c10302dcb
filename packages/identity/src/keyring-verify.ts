import { SEALED_COLUMNS, withAccount, type SealedColumn } from '@keelson/database'
import { IntegrityError, open, UnknownKeyEncryptionKey } from '@keelson/secrets'
import { forEveryAccount, keysOf, type Keyring } from './keyring.ts'
import { rolledBackAgentKeys, rolledBackCredentials, rolledBackSigningSecrets } from './keyring-rollback.ts'
import { contextOf, nextRows, type Place, type SealedRow } from './sealed-rows.ts'

export type KeyringVerdict = { keys: number; records: number; problems: string[] }

/**
 * Unwraps every account key, opens every record, and asks the audit log whether newer ones were there. Tells counts and
 * what is wrong, never what is inside.
 *
 * @throws KeyProviderUnavailable
 */
export const verifyKeyring = async (keyring: Omit<Keyring, 'provider'>, account?: string): Promise<KeyringVerdict> => {
  const { db, accountKeys, signal } = keyring
  const verdict: KeyringVerdict = { keys: 0, records: 0, problems: [] }

  const check = async (what: string, attempt: () => Promise<unknown>): Promise<void> => {
    try {
      await attempt()
    } catch (error) {
      if (!(error instanceof IntegrityError || error instanceof UnknownKeyEncryptionKey)) throw error
      verdict.problems.push(`${what}: ${error.message}`)
    }
  }

  const checkRow = (at: SealedColumn, account_id: string, row: SealedRow) =>
    check(`${at.table} ${account_id} ${row.record_id} version ${row.record_version}`, async () => {
      const plaintext = await open(accountKeys, contextOf(at, account_id, row), row.sealed)
      plaintext.fill(0)
    })

  await forEveryAccount(
    keyring,
    async (account_id) => {
      for (const { version, state } of await withAccount(db, account_id, keysOf)) {
        if (state === 'destroyed') continue
        verdict.keys += 1
        await check(`key ${version} of account ${account_id}`, () => accountKeys.version(account_id, version))
      }
      for (const at of SEALED_COLUMNS) {
        for (let last: Place | undefined; ;) {
          signal.throwIfAborted()
          const from = last
          const rows = await withAccount(db, account_id, (tx) => nextRows(tx, at, from))
          for (const row of rows) await checkRow(at, account_id, row)
          verdict.records += rows.length
          last = rows.at(-1)
          if (!last) break
        }
      }
      for (const rolledBack of [rolledBackCredentials, rolledBackAgentKeys, rolledBackSigningSecrets]) {
        verdict.problems.push(...(await withAccount(db, account_id, rolledBack)))
      }
    },
    account,
  )
  return verdict
}
