import { spaceEnd, stringEnd, valueEnd } from '@keelson/contracts/json'

/** Separates the patches of a span's `data`: a control character, which JSON text cannot hold unescaped. */
export const SEGMENT = '\u001e'

/** Where a member stands in the text of its object. */
type Member = { key: string; start: number; end: number }

/** The members of an object's text; of a repeated name the last one, which wins, as in JSON.parse. */
const membersOf = (object: string): Map<string, Member> => {
  const members = new Map<string, Member>()
  let at = spaceEnd(object, spaceEnd(object, 0) + 1)
  while (object[at] !== '}') {
    const endOfKey = stringEnd(object, at)
    const key = object.slice(at, endOfKey)
    const start = spaceEnd(object, spaceEnd(object, endOfKey) + 1)
    const end = valueEnd(object, start, 0, Infinity)
    members.set(JSON.parse(key) as string, { key, start, end })
    at = spaceEnd(object, end)
    if (object[at] === ',') at = spaceEnd(object, at + 1)
  }
  return members
}

const isObject = (text: string): boolean => text[spaceEnd(text, 0)] === '{'

/** Puts the patch's values in the places of the base's, and new members behind them: all else keeps its text. */
const merge = (base: string, patch: string): string => {
  if (!isObject(base) || !isObject(patch)) return patch
  const known = [...membersOf(base)].toSorted(([, one], [, other]) => one.start - other.start)
  const changes = membersOf(patch)
  const textOf = ({ start, end }: Member) => patch.slice(start, end)
  let merged = ''
  let from = 0
  for (const [name, { start, end }] of known) {
    const change = changes.get(name)
    merged += `${base.slice(from, start)}${change ? textOf(change) : base.slice(start, end)}`
    from = end
    changes.delete(name)
  }
  if (changes.size === 0) return merged + base.slice(from)
  const added = [...changes.values()].map((member) => `${member.key}:${textOf(member)}`).join(',')
  return known.length === 0 ? `{${added}}` : `${merged},${added}${base.slice(from)}`
}

/** How many JSON texts a stored `data` is made of. */
export const segmentsOf = (log: string): number => log.split(SEGMENT).length

/**
 * What a stored `data` says: its patches applied in order. Objects merge by their top-level keys, everything else
 * replaces; every value keeps the text it came with, and what no patch touches keeps its place.
 */
export const foldData = (log: string): string => (log.includes(SEGMENT) ? log.split(SEGMENT).reduce(merge) : log)

const SPACE = /[ \t\r\n]+/g

const withoutSpace = (text: string): string => {
  let kept = ''
  let at = 0
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', at)) {
    const end = stringEnd(text, quote)
    kept += text.slice(at, quote).replace(SPACE, '') + text.slice(quote, end)
    at = end
  }
  return kept + text.slice(at).replace(SPACE, '')
}

/** Whether two JSON texts differ at most in white space and in the order of the members of the outermost object. */
export const saySame = (one: string, other: string): boolean => {
  if (one === other || withoutSpace(one) === withoutSpace(other)) return true
  if (!isObject(one) || !isObject(other)) return false
  const [members, others] = [membersOf(one), membersOf(other)]
  return (
    members.size === others.size &&
    [...members].every(([name, { start, end }]) => {
      const found = others.get(name)
      return found && withoutSpace(one.slice(start, end)) === withoutSpace(other.slice(found.start, found.end))
    })
  )
}
