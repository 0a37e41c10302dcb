import { z } from '@hono/zod-openapi'

const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/
const SEXTETS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Whether a text is base64 in its one canonical form: standard alphabet, padded, no spaces, no stray bits (RFC 4648 §3.5, §4). */
export const isBase64 = (text: string): boolean => {
  if (text.length % 4 !== 0 || !ALPHABET.test(text)) return false
  if (!text.endsWith('=')) return true
  const strayBits = text.endsWith('==') ? 0b1111 : 0b11
  const last = SEXTETS.indexOf(text.charAt(text.indexOf('=') - 1))
  return last !== -1 && (last & strayBits) === 0
}

/** Bytes as standard base64, strictly checked. */
export const Base64 = z
  .string()
  .refine(isBase64, { error: 'must be standard base64 with padding' })
  .openapi({ format: 'byte', example: 'eyJjb3VudCI6MX0=' })
