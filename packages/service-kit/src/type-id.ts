import { randomBytes } from './random.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

let lastMs = 0
let counter = 0

/** RFC 9562 §6.2 method 1: a 12-bit counter, seeded below 2^11 at each new millisecond, borrows from the next one when full. */
const uuidv7Bytes = (): Buffer => {
  const random = randomBytes(10)
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    counter = random.readUInt16BE(8) & 0x7ff
  } else if (++counter > 0xfff) {
    lastMs += 1
    counter = 0
  }
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeUIntBE(lastMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | counter, 6)
  random.copy(bytes, 8, 0, 8)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes
}

/** A UUIDv7 (RFC 9562): sorts by time of creation, strictly so within a process even when the clock steps back. */
export const uuidv7 = (): string => {
  const hex = uuidv7Bytes().toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** 128 bits as 26 characters of lower-case Crockford base32, two zero bits in front, as the TypeID specification has it. */
const base32 = (bytes: Buffer): string => {
  let text = ''
  let buffered = 0
  let bits = 2
  for (const byte of bytes) {
    buffered = (buffered << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(buffered >>> bits) & 31]
      buffered &= (1 << bits) - 1
    }
  }
  return text
}

/**
 * A new TypeID: `prefix_` and a UUIDv7 in base32, text-sortable by time of creation.
 *
 * @param prefix lower-case letters, such as `cred` or `model`
 */
export const typeId = (prefix: string): string => `${prefix}_${base32(uuidv7Bytes())}`
