import { z } from '@hono/zod-openapi'

export type Bounds = { minimum: number; maximum: number }

/** What a caller reads where it is none, or out of bounds. */
const whole = ({ minimum, maximum }: Bounds) =>
  z
    .int({ error: `expected a whole number in digits, from ${minimum} to ${maximum}`, abort: true })
    .min(minimum)
    .max(maximum)

const fromDigits = (value: string | number | undefined) =>
  typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value

/**
 * A whole number in a query string, in plain digits: no sign, space, fraction, exponent or `0x`.
 * A caller in TypeScript may give a number.
 */
export const digits = (bounds: Bounds) => z.preprocess((value: string | number) => fromDigits(value), whole(bounds))

/** {@link digits} with a default. */
export const digitsOr = (fallback: number, bounds: Bounds) => z.preprocess(fromDigits, whole(bounds).default(fallback))
