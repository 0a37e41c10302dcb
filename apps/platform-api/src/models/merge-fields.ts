import { JsonText } from '@keelson/contracts'

const isNull = (value: unknown): boolean => value === null || (value instanceof JsonText && value.value === null)

/**
 * Merges what changes into an object of fields: a value replaces, `null` removes, what is left out stays. The schemas
 * of partial configurations allow `null` only where a field is optional, so the result is a whole object again.
 */
export const mergeFields = <Fields extends object>(fields: Fields, changes: object | undefined): Fields => {
  const merged = new Map<string, unknown>(Object.entries(fields))
  for (const [name, value] of Object.entries(changes ?? {})) {
    if (isNull(value)) merged.delete(name)
    else if (value !== undefined) merged.set(name, value)
  }
  return Object.fromEntries(merged) as Fields
}
