import { z } from '@hono/zod-openapi'

const OUTSIDE = /[^A-Za-z0-9+/]/
const SEXTETS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** The bits of the last sextet that padding leaves unused. */
const STRAY_BITS = [0, 0b11, 0b1111] as const

const paddingOf = (text: string): 0 | 1 | 2 => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

/** Whether a text is base64 in its one canonical form: standard alphabet, padded, no spaces, no stray bits (RFC 4648 §3.5, §4). */
export const isBase64 = (text: string): boolean => {
  if (text.length % 4 !== 0) return false
  const padding = paddingOf(text)
  const digits = text.slice(0, text.length - padding)
  // A search for what is outside never backtracks, however long the text is.
  return !OUTSIDE.test(digits) && (SEXTETS.indexOf(digits.slice(-1)) & STRAY_BITS[padding]) === 0
}

/** Bytes as standard base64, strictly checked. */
export const Base64 = z
  .string()
  .refine(isBase64, { error: 'must be standard base64 with padding' })
  .openapi({ format: 'byte', example: 'eyJjb3VudCI6MX0=' })
