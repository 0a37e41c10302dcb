import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { KeyDigest } from './key-digest.ts'
import { isKey } from './key-format.ts'

const MAX_KEYS = 10_000

/**
 * Finds the stored hash of a well-formed key, in hex; `null` for what is no key. Recent ones are remembered under their
 * plain SHA-256, which costs a tenth of checksum and HMAC: 256 random bits are not guessed from it.
 */
export const keyHashes = (digest: Pick<KeyDigest, 'hash'>): ((token: string) => string | null) => {
  const recent = new LRUCache<string, string>({ max: MAX_KEYS })
  return (token) => {
    const fingerprint = hash('sha256', token, 'base64')
    const known = recent.get(fingerprint)
    if (known !== undefined) return known
    if (!isKey(token, 'user', 'service_account', 'agent')) return null
    const hashed = digest.hash(token).toString('hex')
    recent.set(fingerprint, hashed)
    return hashed
  }
}
