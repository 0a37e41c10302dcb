import { z } from '@hono/zod-openapi'

/**
 * Whether a text is base64 in its one canonical form: standard alphabet, padded, no spaces, no stray bits (RFC 4648 §3.5,
 * §4). There is one such text for any bytes, the one they are encoded as: several times faster than a regular expression.
 */
export const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text

/** Bytes as standard base64, strictly checked. */
export const Base64 = z
  .string()
  .refine(isBase64, { error: 'must be standard base64 with padding' })
  .openapi({ format: 'byte', example: 'eyJjb3VudCI6MX0=' })
