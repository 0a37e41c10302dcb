import { z } from '@hono/zod-openapi'
import { digitsOr } from './digits.ts'

/** The query of a list that is paged by number. */
export const pageQuery = {
  limit: digitsOr(50, { minimum: 1, maximum: 1000 }).openapi({ description: 'The most items to return' }),
  page_number: digitsOr(1, { minimum: 1, maximum: 1_000_000 }).openapi({ description: 'Which page, from 1' }),
}

/** A query parameter with a fixed list of values, in upper or lower case; the first is the default. */
export const anyCaseOneOf = <const Values extends [string, ...string[]]>(values: Values) =>
  z
    .preprocess(
      (text: string | undefined) => text?.toLowerCase(),
      z.enum(values).default(values[0] as Values[number] & z.util.NoUndefined<Values[number]>),
    )
    .openapi({ type: 'string', enum: [...values] })
