import { z } from '@hono/zod-openapi'
import { checkOf } from './check-of.ts'

/** A multiple of 4, small enough that no piece of a large text becomes a large object. */
const PIECE = 32_768

const decoded = Buffer.allocUnsafeSlow(PIECE)

const paddingOf = (text: string): number => {
  if (text.endsWith('==')) return 2
  return text.endsWith('=') ? 1 : 0
}

/**
 * There is one canonical text for any bytes: the one they are encoded as. Node's decoder passes over what is no base64, so
 * that too few bytes come out, takes the letters of base64url as well, and drops stray bits, which only the last four
 * letters can have. Several times faster than a regular expression, or than encoding all of the bytes again.
 */
const isCanonical = (text: string): boolean => {
  if (text === '') return true
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return false
  const lastBytes = 3 - paddingOf(text)
  const bytes = decoded.write(text, 'base64')
  if (bytes !== (text.length / 4 - 1) * 3 + lastBytes) return false
  return decoded.toString('base64', bytes - lastBytes, bytes) === text.slice(-4)
}

const arePiecesCanonical = (length: number, piece: (from: number, to: number) => string): boolean => {
  let at = 0
  for (; at + PIECE < length; at += PIECE) {
    const text = piece(at, at + PIECE)
    if (text.endsWith('=') || !isCanonical(text)) return false
  }
  return isCanonical(piece(at, length))
}

/** Whether a text is base64 in its one canonical form: standard alphabet, padded, no spaces, no stray bits (RFC 4648 §3.5, §4). */
export const isBase64 = (text: string): boolean => arePiecesCanonical(text.length, (from, to) => text.slice(from, to))

/**
 * Large base64 as the bytes it arrived in. As a string it would be a large object, which only a full collection frees:
 * a few of those cost more than everything else that is done with them.
 */
export class Base64Bytes {
  readonly bytes: Buffer

  private constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** @returns `null` when these are not the bytes of canonical base64 */
  static from(bytes: Buffer): Base64Bytes | null {
    const isBase64 = arePiecesCanonical(bytes.length, (from, to) => bytes.toString('latin1', from, to))
    return isBase64 ? new Base64Bytes(bytes) : null
  }

  get length(): number {
    return this.bytes.length
  }

  toString(): string {
    return this.bytes.toString('latin1')
  }

  toJSON(): string {
    return this.toString()
  }
}

/** Bytes as standard base64, strictly checked. */
export const Base64 = z
  .custom<string | Base64Bytes>(
    (value) => value instanceof Base64Bytes || (typeof value === 'string' && isBase64(value)),
    {
      error: 'must be standard base64 with padding',
    },
  )
  .openapi({ type: 'string', format: 'byte', example: 'eyJjb3VudCI6MX0=' })

/** Whether a schema, whatever description or example was added to it, is {@link Base64}. */
export const isBase64Schema = (schema: z.core.$ZodType): boolean => checkOf(schema) === checkOf(Base64)
