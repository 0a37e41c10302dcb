import { BOX_OVERHEAD } from './derived-box.ts'
import { IntegrityError } from './errors.ts'

const MAGIC = 0x4b53
const FORMAT = 1
const MAX_VERSION = 0xffff_ffff

/** Algorithm 1: HKDF-SHA512 with commitment, AES-256-GCM. 2 (AES-256-GCM-SIV) and 3 (XAES-256-GCM) are reserved. */
export const ALGORITHM = 1

const HEADER_BYTES = 8

/** Bytes that sealing adds: 100. */
export const SEALED_OVERHEAD = HEADER_BYTES + BOX_OVERHEAD

/** What a sealed record says of itself: the algorithm and the version of the account key it was sealed under. */
export type SealedWith = { alg: number; ak_version: number }

/** `magic 2 "KS" | format 1 | algorithm 1 | ak_version u32be`. */
export const envelopeHeader = (ak_version: number): Buffer => {
  if (!Number.isInteger(ak_version) || ak_version < 1 || ak_version > MAX_VERSION) {
    throw new RangeError('an account key version is 1 to 2^32 - 1')
  }
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(MAGIC, 0)
  header.writeUInt8(FORMAT, 2)
  header.writeUInt8(ALGORITHM, 3)
  header.writeUInt32BE(ak_version, 4)
  return header
}

/**
 * Takes a sealed record apart without any key.
 *
 * @throws IntegrityError for anything but format 1 with a known algorithm and at least header and tag
 */
export const parseEnvelope = (sealed: Buffer): SealedWith & { header: Buffer; box: Buffer } => {
  if (sealed.length < SEALED_OVERHEAD) throw new IntegrityError('format', 'sealed record is cut short')
  if (sealed.readUInt16BE(0) !== MAGIC) throw new IntegrityError('format', 'not a sealed record')
  if (sealed.readUInt8(2) !== FORMAT) throw new IntegrityError('format', 'unknown format of sealed record')
  const alg = sealed.readUInt8(3)
  if (alg !== ALGORITHM) throw new IntegrityError('format', 'unknown algorithm of sealed record')
  const ak_version = sealed.readUInt32BE(4)
  if (ak_version === 0) throw new IntegrityError('format', 'sealed record names no account key')
  return { alg, ak_version, header: sealed.subarray(0, HEADER_BYTES), box: sealed.subarray(HEADER_BYTES) }
}

/** Which algorithm and account key a record was sealed with; needs no key. @throws IntegrityError on an unknown format */
export const sealedWith = (sealed: Buffer): SealedWith => {
  const { alg, ak_version } = parseEnvelope(sealed)
  return { alg, ak_version }
}

/** Whether a record should be sealed again: older account key or other algorithm. @throws IntegrityError on an unknown format */
export const needsReencryption = (sealed: Buffer, activeVersion: number): boolean => {
  const { alg, ak_version } = sealedWith(sealed)
  return alg !== ALGORITHM || ak_version < activeVersion
}
