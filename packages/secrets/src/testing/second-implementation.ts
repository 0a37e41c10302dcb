import { gcm } from '@noble/ciphers/aes.js'
import { createHmac } from 'node:crypto'
import type { SealContext } from '../sealed.ts'

/** RFC 5869 written out from the RFC, over HMAC. */
export const hkdf = (hash: string, ikm: Buffer, salt: Buffer, info: Buffer, length: number): Buffer => {
  const mac = (key: Buffer, ...parts: Buffer[]) => createHmac(hash, key).update(Buffer.concat(parts)).digest()
  const pseudorandomKey = mac(salt, ikm)
  const blocks = [mac(pseudorandomKey, info, Buffer.of(1))]
  while (blocks.length * blocks[0]!.length < length) {
    blocks.push(mac(pseudorandomKey, blocks.at(-1)!, info, Buffer.of(blocks.length + 1)))
  }
  return Buffer.concat(blocks).subarray(0, length)
}

const prefixed = (hex: string) => (hex.length / 2).toString(16).padStart(8, '0') + hex

const additionalData = (header: string, { purpose, account_id, record_id, record_version }: SealContext): Buffer => {
  const texts = [purpose, account_id, record_id].map((text) => Buffer.from(text).toString('hex'))
  return Buffer.from([header, ...texts, record_version.toString(16).padStart(16, '0')].map(prefixed).join(''), 'hex')
}

type Random = { salt: Buffer; iv: Buffer }

/** Format v1 as the design describes it, in hex arithmetic, on another AES-GCM. */
export const sealAgain = (
  key: Buffer,
  version: number,
  context: SealContext,
  plaintext: Buffer,
  { salt, iv }: Random,
): Buffer => {
  const header = `4b530101${version.toString(16).padStart(8, '0')}`
  const aad = additionalData(header, context)
  const derived = hkdf('sha512', key, salt, aad, 64)
  const sealed = gcm(derived.subarray(0, 32), iv, aad).encrypt(plaintext)
  return Buffer.concat([Buffer.from(header, 'hex'), salt, derived.subarray(32), iv, sealed])
}

/** Opens format v1, or throws. */
export const openAgain = (key: Buffer, context: SealContext, sealed: Buffer): Buffer => {
  const header = sealed.toString('hex', 0, 8)
  if (!header.startsWith('4b530101')) throw new Error('not format v1')
  const aad = additionalData(header, context)
  const derived = hkdf('sha512', key, sealed.subarray(8, 40), aad, 64)
  if (!derived.subarray(32).equals(sealed.subarray(40, 72))) throw new Error('commitment')
  return Buffer.from(gcm(derived.subarray(0, 32), sealed.subarray(72, 84), aad).decrypt(sealed.subarray(84)))
}
