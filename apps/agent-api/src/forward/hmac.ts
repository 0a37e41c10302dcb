import { createHash, hash, timingSafeEqual, type KeyObject } from 'node:crypto'

/** Of SHA-256. */
const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** A message this long is copied behind its key's block and hashed with one call, which costs a third of an Hmac object. */
const COPIED_BYTES = 16_384

type Blocks = { inner: Buffer; outer: Buffer }

const blockOf = (key: Buffer, pad: number, room = 0): Buffer => {
  const block = Buffer.alloc(BLOCK_BYTES + room, pad)
  for (const [index, byte] of key.entries()) block[index] = byte ^ pad
  return block
}

const makeBlocks = (secret: KeyObject): Blocks => {
  const bytes = secret.export()
  const key = bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes
  return { inner: blockOf(key, 0x36), outer: blockOf(key, 0x5c, DIGEST_BYTES) }
}

/** The blocks that a secret begins its hashes with, made when it is first used. */
const known = new WeakMap<KeyObject, Blocks>()

const blocksOf = (secret: KeyObject): Blocks => {
  const found = known.get(secret)
  if (found) return found
  const made = makeBlocks(secret)
  known.set(secret, made)
  return made
}

const copied = Buffer.allocUnsafe(COPIED_BYTES)

const innerHash = (block: Buffer, prefix: string, body: Buffer): string => {
  const most = BLOCK_BYTES + 3 * prefix.length + body.length
  if (most > COPIED_BYTES) return createHash('sha256').update(block).update(prefix).update(body).digest('hex')
  copied.set(block)
  const bodyAt = BLOCK_BYTES + copied.write(prefix, BLOCK_BYTES)
  copied.set(body, bodyAt)
  return hash('sha256', copied.subarray(0, bodyAt + body.length))
}

/** HMAC-SHA256 (RFC 2104) over a text, in UTF-8, and the bytes behind it. */
export const hmac = (secret: KeyObject, prefix: string, body: Buffer, encoding: 'hex' | 'base64'): string => {
  const { inner, outer } = blocksOf(secret)
  outer.write(innerHash(inner, prefix, body), BLOCK_BYTES, 'hex')
  return hash('sha256', outer, encoding)
}

/** Whether a code is the one that was given in the same encoding. A missing one takes as long as a wrong one. */
export const isSameMac = (mac: string, given: string | undefined): boolean =>
  timingSafeEqual(Buffer.from(mac), Buffer.from(given ?? mac)) && given !== undefined
