type Source = { source?: string }

/** In the language since ES2025's JSON.parse source text access; the compiler does not know it yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON: (text: string) => { rawJSON: string }
  isRawJSON: (value: unknown) => value is { rawJSON: string }
}

/** Parses JSON so that `JSON.stringify` writes every number as it was: `1.0`, `1e400`, integers beyond 2^53. */
export const parseExactly = (text: string): unknown =>
  (JSON.parse as (text: string, reviver: (key: string, value: unknown, context: Source) => unknown) => unknown)(
    text,
    (_key, value, { source }) => (typeof value === 'number' && source !== String(value) ? rawJSON(source!) : value),
  )

/** The text of a scalar, `null` for everything else. */
export const scalarText = (value: unknown): string | null => {
  if (isRawJSON(value)) return value.rawJSON
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null
}
