import { KeyProviderUnavailable } from '@keelson/secrets'
import { ConfigError } from '@keelson/service-kit'

/**
 * Passes on what was thrown at the start, in words where they help more than a stack: a key provider that does not
 * answer, which from here looks like a setting that leads nowhere.
 */
export const startRefusal = (error: unknown): never => {
  if (error instanceof KeyProviderUnavailable) {
    throw new ConfigError([`${error.message}; key-encryption key ${error.kek_id} is wanted to start`])
  }
  throw error
}
