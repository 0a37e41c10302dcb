/** Separates the patches of a span's `data`: a control character, which JSON text cannot hold unescaped. */
export const SEGMENT = '\u001e'

type Member = { key: string; text: string }

const WHITESPACE = /[ \t\n\r]*/y

const skipWhitespace = (text: string, index: number): number => {
  WHITESPACE.lastIndex = index
  WHITESPACE.exec(text)
  return WHITESPACE.lastIndex
}

/** The index after the string that opens at `index`. */
const endOfString = (text: string, index: number): number => {
  for (let end = text.indexOf('"', index + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end + 1
  }
}

/** The index after the value that starts at `index` in well-formed JSON. */
const endOfValue = (text: string, index: number): number => {
  let depth = 0
  for (let at = index; ;) {
    const character = text[at]
    if (character === '"') {
      at = endOfString(text, at)
      if (depth === 0) return at
      continue
    }
    if (depth === 0 && (character === ',' || character === '}' || character === ']' || character === undefined))
      return at
    if (character === '{' || character === '[') depth += 1
    if (character === '}' || character === ']') depth -= 1
    at += 1
    if (depth === 0 && (character === '}' || character === ']')) return at
  }
}

/** The members of an object's text, each with its own text; later ones of a repeated key win, as in JSON.parse. */
const membersOf = (object: string): Map<string, Member> => {
  const members = new Map<string, Member>()
  let at = skipWhitespace(object, skipWhitespace(object, 0) + 1)
  while (object[at] !== '}') {
    const endOfKey = endOfString(object, at)
    const key = object.slice(at, endOfKey)
    const value = skipWhitespace(object, skipWhitespace(object, endOfKey) + 1)
    const end = endOfValue(object, value)
    members.set(JSON.parse(key) as string, { key, text: object.slice(value, end).trimEnd() })
    at = skipWhitespace(object, end)
    if (object[at] === ',') at = skipWhitespace(object, at + 1)
  }
  return members
}

const isObject = (text: string): boolean => text[skipWhitespace(text, 0)] === '{'

const merge = (base: string, patch: string): string => {
  if (!isObject(base) || !isObject(patch)) return patch
  const members = membersOf(base)
  for (const [name, member] of membersOf(patch))
    members.set(name, { ...member, key: members.get(name)?.key ?? member.key })
  return `{${[...members.values()].map(({ key, text }) => `${key}:${text}`).join(',')}}`
}

/** How many JSON texts a stored `data` is made of. */
export const segmentsOf = (log: string): number => log.split(SEGMENT).length

/**
 * What a stored `data` says: its patches applied in order. Objects merge by their top-level keys, everything else
 * replaces; every value keeps the text it came with.
 */
export const foldData = (log: string): string => (log.includes(SEGMENT) ? log.split(SEGMENT).reduce(merge) : log)
