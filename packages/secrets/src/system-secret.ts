import { hkdfSync } from 'node:crypto'
import type { AccountKeys } from './account-keys.ts'
import { lengthPrefixed, nameBytes } from './length-prefixed.ts'

/** The account that owns the installation's own keys. */
export const SYSTEM_ACCOUNT = 'system'

/**
 * A secret of the installation itself, 32 bytes, the same on every replica and after every restart: derived from one
 * version of the system account's key. It does not change when that key is rotated, so that version must never be destroyed.
 *
 * @param purpose what the secret is for, for instance `apikey.pepper`
 * @param version of the system account's key; 1 is made on first use, later ones by rotation
 * @throws KeyProviderUnavailable, IntegrityError, UnknownKeyEncryptionKey
 */
export const deriveSystemSecret = async (accountKeys: AccountKeys, purpose: string, version = 1): Promise<Buffer> => {
  const info = lengthPrefixed(Buffer.from('system-secret'), nameBytes('purpose', purpose))
  if (version === 1) await accountKeys.active(SYSTEM_ACCOUNT)
  const { key } = await accountKeys.version(SYSTEM_ACCOUNT, version)
  return Buffer.from(hkdfSync('sha512', key, Buffer.alloc(0), info, 32))
}
