import { parseJson } from './parse-json.ts'

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
      this.#value = parseJson(this.text)
      this.#isParsed = true
    }
    return this.#value
  }

  toString(): string {
    return this.text
  }
}

/** A whole answer as the UTF-8 of its JSON: for large ones, which as a text would have to be collected as garbage. */
export class JsonBytes {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** The JSON text of a free-form field: the caller's own text where it is known. */
export const jsonTextOf = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value))

const KNOWN_KEYS = 1000
const quotedKeys = new Map<string, string>()

/** Keys are few and come again and again. */
const quoted = (key: string): string => {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const text = `${JSON.stringify(key)}:`
  if (quotedKeys.size < KNOWN_KEYS) quotedKeys.set(key, text)
  return text
}

const writeArray = (items: readonly unknown[]): string => {
  let text = ''
  for (const item of items) text += `${text === '' ? '' : ','}${writeJson(item ?? null)}`
  return `[${text}]`
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object'

/** Serialises a value like `JSON.stringify`, with every {@link JsonText} written as its own text. */
export const writeJson = (value: unknown): string => {
  if (value === null) return 'null'
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) return writeArray(value)
  const members = value as Record<string, unknown>
  const keys = Object.keys(members)
  // Without anything to look into, the engine is several times faster.
  if (keys.every((key) => isScalar(members[key]))) return JSON.stringify(value)
  let text = ''
  for (const key of keys) {
    const member = members[key]
    if (member !== undefined) text += `${text === '' ? '' : ','}${quoted(key)}${writeJson(member)}`
  }
  return `{${text}}`
}
