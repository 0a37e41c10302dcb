import { jsonTextOf } from '@keelson/contracts'

/**
 * What jsonb may refuse: escapes of NUL and of lone surrogates, and numbers of more digits than its numerics have. It
 * takes integers as long as metadata can be, so those are left as they are.
 */
const UNSURE_NUMBER = /[eE][+-]?0*[1-9]\d{3}|\.\d{9000}/
const UNSURE = new RegExp(String.raw`\\u|${UNSURE_NUMBER.source}`)

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const storableToken = (token: string): string => {
  if (token.startsWith('"')) return token.includes('\\u') ? JSON.stringify(storable(JSON.parse(token))) : token
  return UNSURE_NUMBER.test(token) ? JSON.stringify(Number(token)) : token
}

/**
 * Metadata, or what to look for in it, as jsonb can hold it. Both go the same way, so that what was put is found; only
 * NUL and lone surrogates, and numbers that no numeric can hold, cannot be told apart.
 *
 * It is rewritten token by token and never parsed as a whole, which would round its numbers.
 */
export const searchable = (metadata: unknown): string => {
  const text = jsonTextOf(metadata)
  return UNSURE.test(text) ? text.replaceAll(STRING_OR_NUMBER, storableToken) : text
}
