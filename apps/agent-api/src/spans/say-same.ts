import { QUOTE, spaceEnd, stringEnd } from '@keelson/contracts/json'
import { eachMember, isObject, nameAt } from './json-members.ts'

/** Where the tokens of one JSON text end in another that has the same from there on; -1 where it has others. */
const tokensEnd = (one: string, other: string, from: number): number => {
  let at = spaceEnd(one, 0)
  let to = spaceEnd(other, from)
  while (at < one.length) {
    if (one.charCodeAt(at) !== other.charCodeAt(to)) return -1
    const length = one.charCodeAt(at) === QUOTE ? stringEnd(one, at) - at : 1
    if (length > 1 && !other.startsWith(one.slice(at, at + length), to)) return -1
    at = spaceEnd(one, at + length)
    to = spaceEnd(other, to + length)
  }
  return to
}

/** Whether two JSON texts differ in nothing but the white space between their tokens. */
const sameTokens = (one: string, other: string): boolean => tokensEnd(one, other, 0) === other.length

const valuesOf = (object: string): Map<string, string> => {
  const values = new Map<string, string>()
  eachMember(object, (keyStart, keyEnd, start, end, hasEscape) => {
    values.set(nameAt(object, keyStart, keyEnd, hasEscape), object.slice(start, end))
  })
  return values
}

/** Whether a name without escapes may be that of a later member too, perhaps with escapes. */
const mayRecur = (object: string, key: string, from: number): boolean =>
  object.includes(key, from) ||
  object.includes('\\u', from) ||
  (key.includes('/') && object.includes(String.raw`\/`, from))

/**
 * Whether an object has the same members as a shorter one, whose are indexed. It ends with the first that the shorter
 * has not, or has otherwise, unless the same name may come again: the last one counts.
 */
const haveSameMembers = (shorter: string, longer: string): boolean => {
  const values = valuesOf(shorter)
  const seen = new Set<string>()
  const differing = new Set<string>()
  let isOther = false
  // Asked for the first difference only: it may look through all that follows.
  let asksWhetherSettled = true
  eachMember(
    longer,
    (keyStart, keyEnd, start, end, hasEscape) => {
      const name = nameAt(longer, keyStart, keyEnd, hasEscape)
      seen.add(name)
      if (sameTokens(values.get(name) ?? '', longer.slice(start, end))) differing.delete(name)
      else differing.add(name)
    },
    (keyStart, keyEnd, start, hasEscape) => {
      const value = values.get(nameAt(longer, keyStart, keyEnd, hasEscape))
      isOther = value === undefined
      if (value !== undefined && asksWhetherSettled && tokensEnd(value, longer, start) === -1) {
        asksWhetherSettled = false
        isOther = !hasEscape && !mayRecur(longer, longer.slice(keyStart, keyEnd), start)
      }
      return isOther
    },
  )
  return !isOther && differing.size === 0 && seen.size === values.size
}

/** Whether two JSON texts differ at most in white space and in the order of the members of the outermost object. */
export const saySame = (one: string, other: string): boolean => {
  if (one === other || sameTokens(one, other)) return true
  if (!isObject(one) || !isObject(other)) return false
  return one.length < other.length ? haveSameMembers(one, other) : haveSameMembers(other, one)
}
