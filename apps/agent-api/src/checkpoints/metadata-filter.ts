import { jsonTextOf } from '@keelson/contracts'

/** What jsonb may refuse: escapes of NUL and of lone surrogates, and numbers of many digits. */
const UNSURE = /\\u|[eE][+-]?\d{3}|\d{1000}/

const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const withoutRefused = (value: unknown): unknown => {
  if (typeof value === 'string') return storable(value)
  if (Array.isArray(value)) return value.map(withoutRefused)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [storable(key), withoutRefused(member)]))
}

/**
 * Metadata, or what to look for in it, as jsonb can hold it. Both go the same way, so that what was put is found; only
 * NUL and lone surrogates cannot be told apart.
 */
export const searchable = (metadata: unknown): string => {
  const text = jsonTextOf(metadata)
  return UNSURE.test(text) ? JSON.stringify(withoutRefused(JSON.parse(text))) : text
}
