import type { Database } from '@keelson/database'
import { UsageError } from './key-options.ts'

/**
 * The id of the account that an operator named, by its id or its name; `undefined` where none was named. The account of
 * the system is among them, which has keys to rotate and rows to read, but no API keys.
 *
 * @throws UsageError when there is no such account: whoever mistypes it must not hear that all is well with it
 */
export const findAccount = async (
  { sql }: Pick<Database, 'sql'>,
  wanted: string | undefined,
): Promise<string | undefined> => {
  if (wanted === undefined) return undefined
  const [account] = await sql<{ account_id: string }[]>`
    select account_id from identity.accounts where account_id = ${wanted} or name = ${wanted}
    order by account_id = ${wanted} desc limit 1`
  if (!account) throw new UsageError(`there is no account ${wanted}`)
  return account.account_id
}
