import { eachMember, isObject, nameAt } from './json-members.ts'

/** Separates the patches of a span's `data`: a control character, which JSON text cannot hold unescaped. */
export const SEGMENT = '\u001e'

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
