import { hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto'
import { decryptGcm, encryptGcm, IV_BYTES, TAG_BYTES } from './aes-gcm.ts'
import { IntegrityError } from './errors.ts'

const KEY_BYTES = 32
const SALT_BYTES = 32
const COMMITMENT_END = SALT_BYTES + 32
const PREFIX_BYTES = COMMITMENT_END + IV_BYTES

/** Bytes a box adds to its plaintext. */
export const BOX_OVERHEAD = PREFIX_BYTES + TAG_BYTES

/** Where salt and IV come from: only golden vectors take them from anywhere but `randomBytes`. */
export type RandomSource = (size: number) => Buffer

const derive = (key: KeyObject, salt: Buffer, context: Buffer): { boxKey: Buffer; commitment: Buffer } => {
  const derived = Buffer.from(hkdfSync('sha512', key, salt, context, 2 * KEY_BYTES))
  return { boxKey: derived.subarray(0, KEY_BYTES), commitment: derived.subarray(KEY_BYTES) }
}

/**
 * Encrypts under a key derived for this box alone: `salt 32 | commitment 32 | iv 12 | ciphertext | tag 16`. The context
 * is both HKDF info and GCM additional data. The commitment ties the ciphertext to one key, which GCM alone does not.
 *
 * @param context at most 1024 bytes
 */
export const closeBox = (key: KeyObject, context: Buffer, plaintext: Buffer, random: RandomSource): Buffer => {
  const salt = random(SALT_BYTES)
  const iv = random(IV_BYTES)
  const { boxKey, commitment } = derive(key, salt, context)
  try {
    return Buffer.concat([salt, commitment, iv, encryptGcm(boxKey, iv, context, plaintext)])
  } finally {
    boxKey.fill(0)
  }
}

/**
 * Opens what {@link closeBox} made. Nothing is returned before the whole box is authenticated.
 *
 * @throws IntegrityError for any other key, context or box
 */
export const openBox = (key: KeyObject, context: Buffer, box: Buffer): Buffer => {
  if (box.length < BOX_OVERHEAD) throw new IntegrityError('format', 'sealed bytes are cut short')
  const { boxKey, commitment } = derive(key, box.subarray(0, SALT_BYTES), context)
  try {
    if (!timingSafeEqual(commitment, box.subarray(SALT_BYTES, COMMITMENT_END))) {
      throw new IntegrityError('commitment', 'sealed under another key or for another place')
    }
    return decryptGcm(boxKey, box.subarray(COMMITMENT_END, PREFIX_BYTES), context, box.subarray(PREFIX_BYTES))
  } finally {
    boxKey.fill(0)
  }
}
