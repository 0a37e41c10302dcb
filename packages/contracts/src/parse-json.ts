import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  spaceEnd,
  stringEnd,
  valueEnd,
} from './json-token.ts'

/**
 * Reads a text that is known to be JSON without the engine's memory of other objects: slower, and right.
 *
 * @param scalarOf what a number, `true`, `false` or `null` becomes
 */
export const readJson = (text: string, scalarOf: (source: string) => unknown = JSON.parse): unknown => {
  let at = 0
  const next = (): number => text.charCodeAt((at = spaceEnd(text, at)))

  const scalar = (): string => {
    const start = at
    at = valueEnd(text, start, 0, 0)
    return text.slice(start, at)
  }
  const listUntil = <Item>(close: number, item: () => Item): Item[] => {
    const items: Item[] = []
    at++
    while (next() !== close) {
      items.push(item())
      if (next() === COMMA) at++
    }
    at++
    return items
  }
  const member = (): [string, unknown] => {
    const name = JSON.parse(scalar()) as string
    next()
    at++
    return [name, value()]
  }
  const value = (): unknown => {
    const code = next()
    if (code === OPEN_BRACE) return Object.fromEntries(listUntil(CLOSE_BRACE, member))
    if (code === OPEN_BRACKET) return listUntil(CLOSE_BRACKET, value)
    return code === QUOTE ? JSON.parse(scalar()) : scalarOf(scalar())
  }
  return value()
}

/** A name as it is written without escapes; `null` when it has a character that must be escaped. */
const plainName = (source: string): string | null => {
  const written = JSON.stringify(JSON.parse(source))
  return written.includes('\\') ? null : written
}

/**
 * A text that is known to be JSON with the names of its members written without escapes; `null` where one cannot be.
 * Strings that are values are passed over.
 */
const withPlainNames = (text: string): string | null => {
  let plain = ''
  let from = 0
  for (let at = text.indexOf('\\'), end; at !== -1; at = text.indexOf('\\', end)) {
    end = stringEnd(text, at)
    if (text.charCodeAt(spaceEnd(text, end)) !== COLON) continue
    const start = text.lastIndexOf('"', at)
    const name = plainName(text.slice(start, end))
    if (name === null) return null
    plain += text.slice(from, start) + name
    from = end
  }
  return from === 0 ? text : plain + text.slice(from)
}

/**
 * Parses as `JSON.parse` should. That of Node 24 and 26 guesses names from objects that were parsed before, and compares
 * the guess with what stands in the text, escapes and all: once somebody has sent `{"a":1,"\\":1}`, the second name of
 * `{"a":1,"\u00e9":1}` may become a backslash. Python's clients write all names beyond ASCII so. It cannot go wrong where no
 * name has an escape, so it gets such texts once more without.
 *
 * @throws SyntaxError
 */
export const parseJson = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  const plain = withPlainNames(text)
  if (plain === text) return value
  return plain === null ? readJson(text) : JSON.parse(plain)
}
