/**
 * A JSON value carried as its own text, so that it leaves exactly as it came: big integers, `1.0`, key order,
 * escapes and lone surrogates included. Free-form fields of requests and responses hold one.
 */
export class JsonText {
  readonly text: string
  #value: unknown
  #isParsed: boolean

  /** @param text well-formed JSON @param value what `text` parses to, when the caller has it already */
  constructor(text: string, value?: unknown) {
    this.text = text
    this.#value = value
    this.#isParsed = value !== undefined
  }

  /** The parsed value. Lossy where JavaScript numbers are: for looking, never for storing. */
  get value(): unknown {
    if (!this.#isParsed) {
      this.#value = JSON.parse(this.text)
      this.#isParsed = true
    }
    return this.#value
  }

  toString(): string {
    return this.text
  }
}

/** The JSON text of a free-form field: the caller's own text where it is known. */
export const jsonTextOf = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value))

/** Serialises a value like `JSON.stringify`, with every {@link JsonText} written as its own text. */
export const writeJson = (value: unknown): string => {
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null)).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${writeJson(member)}`).join(',')}}`
}
