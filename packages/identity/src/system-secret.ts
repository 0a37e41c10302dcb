import { deriveSystemSecret, type AccountKeys } from '@keelson/secrets'
import { startRefusal } from './start-refusal.ts'

/** What the installation keeps secrets of its own for. */
export type SystemPurpose = 'api-key.pepper' | 'audit.mac'

/**
 * A secret of the installation itself, 32 bytes, the same on every replica and after every restart. The pepper of API
 * keys is `systemSecret(accountKeys, 'api-key.pepper')`.
 *
 * @throws ConfigError while the key provider is away; IntegrityError, UnknownKeyEncryptionKey
 */
export const systemSecret = (accountKeys: AccountKeys, purpose: SystemPurpose): Promise<Buffer> =>
  deriveSystemSecret(accountKeys, purpose).catch(startRefusal)
