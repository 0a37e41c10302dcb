import { CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE, spaceEnd, stringEnd, valueEnd } from '@keelson/contracts/json'

/** Separates the patches of a span's `data`: a control character, which JSON text cannot hold unescaped. */
export const SEGMENT = '\u001e'

/** A member in the text of its object: where the name stands, quotes included, and where the value. */
type OnMember = (keyStart: number, keyEnd: number, start: number, end: number, hasEscape: boolean) => void

/** Tells the members of an object's text in their order. @returns the index behind the last value; -1 of none */
const eachMember = (object: string, onMember: OnMember): number => {
  let escape = object.indexOf('\\')
  let last = -1
  let at = spaceEnd(object, spaceEnd(object, 0) + 1)
  while (object.charCodeAt(at) !== CLOSE_BRACE) {
    if (escape !== -1 && escape < at) escape = object.indexOf('\\', at)
    const keyEnd = stringEnd(object, at)
    const start = spaceEnd(object, spaceEnd(object, keyEnd) + 1)
    last = valueEnd(object, start, 0, Infinity)
    onMember(at, keyEnd, start, last, escape !== -1 && escape < keyEnd)
    at = spaceEnd(object, last)
    if (object.charCodeAt(at) === COMMA) at = spaceEnd(object, at + 1)
  }
  return last
}

const nameAt = (text: string, start: number, end: number, hasEscape: boolean): string =>
  hasEscape ? (JSON.parse(text.slice(start, end)) as string) : text.slice(start + 1, end - 1)

const isObject = (text: string): boolean => text.charCodeAt(spaceEnd(text, 0)) === OPEN_BRACE

/** What patches make of a member: its name as the first of them has it, and the value of the last. */
type Change = { key: string; value: string; patch: number; place: Place | null }

/** Where the base has a member that changes. */
type Place = { change: Change; start: number; end: number }

/** Of a name that one patch has twice the last one counts, which wins, as in JSON.parse. */
const changesOf = (patches: readonly string[]): Map<string, Change> => {
  const changes = new Map<string, Change>()
  for (const [patch, text] of patches.entries())
    eachMember(text, (keyStart, keyEnd, start, end, hasEscape) => {
      const name = nameAt(text, keyStart, keyEnd, hasEscape)
      const value = text.slice(start, end)
      const known = changes.get(name)
      if (!known) changes.set(name, { key: text.slice(keyStart, keyEnd), value, patch, place: null })
      else {
        known.value = value
        if (known.patch === patch) known.key = text.slice(keyStart, keyEnd)
      }
    })
  return changes
}

/** Puts values in the places of the base's, and new members behind them: all else keeps its text. */
const merge = (base: string, changes: Map<string, Change>): string => {
  const places: Place[] = []
  // Most names of a large base differ from a few others in length already, and need not be cut out to be looked up.
  const lengths = new Set([...changes.keys()].map(({ length }) => length))
  const last = eachMember(base, (keyStart, keyEnd, start, end, hasEscape) => {
    if (!hasEscape && !lengths.has(keyEnd - keyStart - 2)) return
    const change = changes.get(nameAt(base, keyStart, keyEnd, hasEscape))
    if (change) places.push((change.place = { change, start, end }))
  })
  const parts: string[] = []
  let from = 0
  for (const place of places) {
    const { change, start, end } = place
    if (change.place !== place) continue
    parts.push(base.slice(from, start), change.value)
    from = end
  }
  const added = [...changes.values()].filter(({ place }) => place === null).map(({ key, value }) => `${key}:${value}`)
  if (added.length === 0) return parts.join('') + base.slice(from)
  if (last === -1) return `{${added.join(',')}}`
  return `${parts.join('')}${base.slice(from, last)},${added.join(',')}${base.slice(last)}`
}

/** How many JSON texts a stored `data` is made of. */
export const segmentsOf = (log: string): number => {
  let segments = 1
  for (let at = log.indexOf(SEGMENT); at !== -1; at = log.indexOf(SEGMENT, at + 1)) segments += 1
  return segments
}

/**
 * What a stored `data` says: its patches applied in order. Objects merge by their top-level keys, everything else
 * replaces; every value keeps the text it came with, and what no patch touches keeps its place.
 */
export const foldData = (log: string): string => {
  if (!log.includes(SEGMENT)) return log
  const segments = log.split(SEGMENT)
  const replaced = segments.findLastIndex((segment) => !isObject(segment))
  const [base = segments.at(-1)!, ...patches] = segments.slice(replaced + 1)
  return patches.length === 0 ? base : merge(base, changesOf(patches))
}

/** Whether two JSON texts differ in nothing but the white space between their tokens. */
const sameTokens = (one: string, other: string): boolean => {
  let at = spaceEnd(one, 0)
  let to = spaceEnd(other, 0)
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(to)) {
    const length = one.charCodeAt(at) === QUOTE ? stringEnd(one, at) - at : 1
    if (length > 1 && !other.startsWith(one.slice(at, at + length), to)) return false
    at = spaceEnd(one, at + length)
    to = spaceEnd(other, to + length)
  }
  return at === one.length && to === other.length
}

const valuesOf = (object: string): Map<string, string> => {
  const values = new Map<string, string>()
  eachMember(object, (keyStart, keyEnd, start, end, hasEscape) => {
    values.set(nameAt(object, keyStart, keyEnd, hasEscape), object.slice(start, end))
  })
  return values
}

/** Whether two JSON texts differ at most in white space and in the order of the members of the outermost object. */
export const saySame = (one: string, other: string): boolean => {
  if (one === other || sameTokens(one, other)) return true
  if (!isObject(one) || !isObject(other)) return false
  const [values, others] = [valuesOf(one), valuesOf(other)]
  const isAlso = ([name, value]: [string, string]) => sameTokens(value, others.get(name) ?? '')
  return values.size === others.size && [...values].every(isAlso)
}
