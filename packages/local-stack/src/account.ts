import { connect } from '@keelson/database'
import { bootstrapLocalAccount, openAccountKeys, systemSecret } from '@keelson/identity'
import { readLocalJson } from './local-json.ts'

/**
 * The account of this machine and an API key of it. The key in `local.json` is kept while it works; another database or
 * a revoked key gets a new one.
 *
 * @param keyFile path of the key-encryption keys
 */
export const prepareAccount = async (databaseUrl: string, keyFile: string, directory: string) => {
  await using db = connect({ url: databaseUrl, applicationName: 'local-stack', maxConnections: 2 })
  const accountKeys = await openAccountKeys(db, { KEY_FILE: keyFile })
  const pepper = await systemSecret(accountKeys, 'api-key.pepper')
  const earlier = await readLocalJson(directory)
  const { account_id, api_key } = await bootstrapLocalAccount(db, pepper, earlier?.api_key)
  return { account_id, api_key }
}
