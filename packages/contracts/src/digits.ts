import { z } from '@hono/zod-openapi'

export type Bounds = { minimum: number; maximum: number }

/**
 * A whole number in a query string, in plain digits: no sign, space, fraction, exponent or `0x`.
 * A caller in TypeScript may give a number.
 */
export const digits = ({ minimum, maximum }: Bounds) =>
  z.preprocess(
    (value: string | number) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
    z.int({ error: 'expected a whole number in digits' }).min(minimum).max(maximum),
  )

/** {@link digits} with a default. */
export const digitsOr = (fallback: number, { minimum, maximum }: Bounds) =>
  z.preprocess(
    (value: string | number | undefined) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
    z.int({ error: 'expected a whole number in digits' }).min(minimum).max(maximum).default(fallback),
  )
