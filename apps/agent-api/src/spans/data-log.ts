import { spaceEnd, stringEnd, valueEnd } from '@keelson/contracts/json'

/** Separates the patches of a span's `data`: a control character, which JSON text cannot hold unescaped. */
export const SEGMENT = '\u001e'

type Member = { key: string; text: string }

/** The members of an object's text, each with its own text; later ones of a repeated key win, as in JSON.parse. */
const membersOf = (object: string): Map<string, Member> => {
  const members = new Map<string, Member>()
  let at = spaceEnd(object, spaceEnd(object, 0) + 1)
  while (object[at] !== '}') {
    const endOfKey = stringEnd(object, at)
    const key = object.slice(at, endOfKey)
    const value = spaceEnd(object, spaceEnd(object, endOfKey) + 1)
    const end = valueEnd(object, value, 0, Infinity)
    members.set(JSON.parse(key) as string, { key, text: object.slice(value, end) })
    at = spaceEnd(object, end)
    if (object[at] === ',') at = spaceEnd(object, at + 1)
  }
  return members
}

const isObject = (text: string): boolean => text[spaceEnd(text, 0)] === '{'

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
