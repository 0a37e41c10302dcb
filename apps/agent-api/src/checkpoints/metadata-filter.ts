import { jsonTextOf } from '@keelson/contracts'
import { stringEnd } from '@keelson/contracts/json'

/** What Postgres's numeric holds: so many digits before the point, and so many after it. */
const MAX_INTEGER_DIGITS = 131_072
const MAX_FRACTION_DIGITS = 16_383

/** What jsonb may refuse: escapes of NUL and of lone surrogates, and numbers that may be too long. */
const UNSURE_NUMBER = /[eE][+-]?0*[1-9]\d{3}|(?<!\d)\d{15000}/
const UNSURE = new RegExp(String.raw`\\u|${UNSURE_NUMBER.source}`)

const QUOTE_OR_NUMBER = /"|-?\d[\d.eE+-]*/g
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const isNumeric = (token: string): boolean => {
  const [, integer = '', fraction = '', exponent = '0'] = NUMBER.exec(token) ?? []
  const [leadingZeros] = /^0*/.exec(integer + fraction) ?? ['']
  const shift = Number(exponent)
  return (
    integer.length + shift - leadingZeros.length <= MAX_INTEGER_DIGITS && fraction.length - shift <= MAX_FRACTION_DIGITS
  )
}

const storableToken = (token: string): string => {
  if (token.startsWith('"')) return token.includes('\\u') ? JSON.stringify(storable(JSON.parse(token))) : token
  return UNSURE_NUMBER.test(token) && !isNumeric(token) ? JSON.stringify(Number(token)) : token
}

/** Regular expressions only find where a string begins: one for all of it runs out of stack after some million escapes. */
const storableText = (text: string): string => {
  const next = new RegExp(QUOTE_OR_NUMBER)
  let result = ''
  let copied = 0
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const start = found.index
    if (found[0] === '"') next.lastIndex = stringEnd(text, start)
    const token = text.slice(start, next.lastIndex)
    const stored = storableToken(token)
    if (stored === token) continue
    result += text.slice(copied, start) + stored
    copied = next.lastIndex
  }
  return result + text.slice(copied)
}

/**
 * Metadata, or what to look for in it, as jsonb can hold it. Both go the same way, so that what was put is found; only
 * NUL and lone surrogates, and numbers of more digits than a numeric has, cannot be told apart: these are rounded to a
 * double, or null.
 *
 * It is rewritten token by token and never parsed as a whole, which would round its numbers.
 */
export const searchable = (metadata: unknown): string => {
  const text = jsonTextOf(metadata)
  return UNSURE.test(text) ? storableText(text) : text
}
