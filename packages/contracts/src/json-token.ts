export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** The index behind the white space that may stand at `start`. */
export const spaceEnd = (text: string, start: number): number => {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** The index behind the string that opens at `at`: a quote closes it unless an odd run of backslashes stands before. */
export const stringEnd = (text: string, at: number): number => {
  let quote = at
  for (;;) {
    quote = text.indexOf('"', quote + 1)
    if (quote === -1) return text.length
    let run = quote
    while (text.charCodeAt(run - 1) === BACKSLASH) run--
    if ((quote - run) % 2 === 0) return quote + 1
  }
}

/** Whether the string of these bounds, quotes included, holds a backslash. */
export const hasEscape = (text: string, start: number, end: number): boolean => text.slice(start, end).includes('\\')

/** What the string of these bounds stands for; `null` when it is no JSON. */
export const stringValue = (text: string, start: number, end: number): string | null => {
  try {
    return JSON.parse(text.slice(start, end)) as string
  } catch {
    return null
  }
}

const isEndOfScalar = (code: number): boolean =>
  code <= 0x20 || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE

const scalarEnd = (text: string, start: number): number => {
  let at = start
  while (at < text.length && !isEndOfScalar(text.charCodeAt(at))) at++
  return at
}

/**
 * The index behind the value that begins at `start`, within `depth` open brackets; -1 when it nests beyond `maxDepth`.
 */
export const valueEnd = (text: string, start: number, depth: number, maxDepth: number): number => {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return stringEnd(text, start)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return scalarEnd(text, start)
  let level = depth
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++level > maxDepth) return -1
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (--level === depth) return at + 1
    }
  }
  return text.length
}
