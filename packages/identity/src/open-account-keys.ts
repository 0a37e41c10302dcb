import type { Database } from '@keelson/database'
import { ConfigError, type Environment } from '@keelson/service-kit'
import {
  accountKeys,
  KeyConfigurationError,
  keyProvider,
  keyProviderSettings,
  type AccountKeys,
} from '@keelson/secrets'
import { accountKeyStore } from './account-key-store.ts'
import { assertKeyProvider } from './key-provider-check.ts'

const CACHED_ACCOUNTS = 10_000
const FIFTEEN_MINUTES_MS = 900_000

const configuredProvider = async (env: Environment) => {
  try {
    return await keyProvider(keyProviderSettings(env))
  } catch (error) {
    throw error instanceof KeyConfigurationError ? new ConfigError([error.message]) : error
  }
}

/**
 * The account keys of this installation, under the key-encryption keys the environment names.
 *
 * @throws ConfigError for unusable settings and for keys other than this database's; KeyProviderUnavailable
 */
export const openAccountKeys = async (db: Pick<Database, 'sql'>, env: Environment): Promise<AccountKeys> => {
  const provider = await configuredProvider(env)
  await assertKeyProvider(db, provider)
  return accountKeys(provider, accountKeyStore(db), { cacheSize: CACHED_ACCOUNTS, ttlMs: FIFTEEN_MINUTES_MS })
}
