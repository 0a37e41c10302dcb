import type { Database } from '@keelson/database'
import { ConfigError, type Environment } from '@keelson/service-kit'
import {
  accountKeys,
  keyProvider,
  KeyConfigurationError,
  keyProviderSettings,
  type AccountKeys,
} from '@keelson/secrets'
import { accountKeyStore } from './account-key-store.ts'
import { assertKeyProvider, wantedKeys } from './key-provider-check.ts'
import { startRefusal } from './start-refusal.ts'

const CACHED_ACCOUNTS = 10_000
const FIFTEEN_MINUTES_MS = 900_000

/**
 * The account keys of this installation, under the key-encryption keys the environment names.
 *
 * @throws ConfigError for unusable settings, for keys other than this database's, and while the key provider is away
 */
export const openAccountKeys = async (db: Pick<Database, 'sql'>, env: Environment): Promise<AccountKeys> => {
  try {
    const provider = await keyProvider(keyProviderSettings(env))
    await assertKeyProvider(db, provider)
    return accountKeys(provider, accountKeyStore(db), { cacheSize: CACHED_ACCOUNTS, ttlMs: FIFTEEN_MINUTES_MS })
  } catch (error) {
    if (!(error instanceof KeyConfigurationError)) return startRefusal(error)
    throw new ConfigError([error.message, ...(await wantedKeys(db))])
  }
}
