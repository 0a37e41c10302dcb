import { createCipheriv, createDecipheriv, createSecretKey, type Decipheriv } from 'node:crypto'
import { IntegrityError } from './errors.ts'

const CIPHER = 'aes-256-gcm'

export const IV_BYTES = 12
export const TAG_BYTES = 16

// Without an explicit length, Node 24 accepts tags as short as four bytes.
const OPTIONS = { authTagLength: TAG_BYTES } as const

// A key goes in as a KeyObject: Node 24 takes eight times as long to find out what other bytes are.

/** AES-256-GCM: `ciphertext | tag 16`. One key and IV must never meet two plaintexts. */
export const encryptGcm = (key: Buffer, iv: Buffer, aad: Buffer, plaintext: Buffer): Buffer => {
  const cipher = createCipheriv(CIPHER, createSecretKey(key), iv, OPTIONS)
  cipher.setAAD(aad)
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** The plaintext once all of it is authenticated. @throws IntegrityError otherwise */
export const decryptGcm = (key: Buffer, iv: Buffer, aad: Buffer, sealed: Buffer): Buffer => {
  const end = sealed.length - TAG_BYTES
  if (end < 0) throw new IntegrityError('format', 'sealed bytes are cut short')
  const decipher = createDecipheriv(CIPHER, createSecretKey(key), iv, OPTIONS)
  decipher.setAAD(aad)
  decipher.setAuthTag(sealed.subarray(end))
  return authenticated(decipher, decipher.update(sealed.subarray(0, end)))
}

const authenticated = (decipher: Decipheriv, plaintext: Buffer): Buffer => {
  try {
    decipher.final()
    return plaintext
  } catch {
    plaintext.fill(0)
    throw new IntegrityError('tag', 'sealed bytes have been changed')
  }
}
