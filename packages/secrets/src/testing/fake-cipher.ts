import { randomBytes } from 'node:crypto'
import { decryptGcm, encryptGcm } from '../aes-gcm.ts'

/** How a fake service keeps what it encrypts: `iv | ciphertext | tag`, all base64. */
export const fakeEncrypt = (key: Buffer, aad: Buffer, plaintext: string | undefined): Buffer => {
  const iv = randomBytes(12)
  return Buffer.concat([iv, encryptGcm(key, iv, aad, Buffer.from(plaintext ?? '', 'base64'))])
}

/** The plaintext, or nothing for another key, other additional data or other bytes. */
export const fakeDecrypt = (key: Buffer, aad: Buffer, sealed: string | undefined): Buffer | undefined => {
  const bytes = Buffer.from(sealed ?? '', 'base64')
  try {
    return decryptGcm(key, bytes.subarray(0, 12), aad, bytes.subarray(12))
  } catch {
    return undefined
  }
}
