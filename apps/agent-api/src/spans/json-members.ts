import { CLOSE_BRACE, COMMA, OPEN_BRACE, spaceEnd, stringEnd, valueEnd } from '@keelson/contracts/json'

/** A member in the text of its object: where the name stands, quotes included, and where the value. */
type OnMember = (keyStart: number, keyEnd: number, start: number, end: number, hasEscape: boolean) => void

/** Looks at a member before the end of its value is known, which may be far. @returns whether to go no further */
type IsEnough = (keyStart: number, keyEnd: number, start: number, hasEscape: boolean) => boolean

const never: IsEnough = () => false

/**
 * Tells the members of an object's text in their order.
 * @returns the index just behind the last value; -1 where the object is empty or `isEnough` ended the walk
 */
export const eachMember = (object: string, onMember: OnMember, isEnough = never): number => {
  let escape = object.indexOf('\\')
  let last = -1
  let at = spaceEnd(object, spaceEnd(object, 0) + 1)
  while (object.charCodeAt(at) !== CLOSE_BRACE) {
    if (escape !== -1 && escape < at) escape = object.indexOf('\\', at)
    const keyEnd = stringEnd(object, at)
    const start = spaceEnd(object, spaceEnd(object, keyEnd) + 1)
    const hasEscape = escape !== -1 && escape < keyEnd
    if (isEnough(at, keyEnd, start, hasEscape)) return -1
    last = valueEnd(object, start, 0, Infinity)
    onMember(at, keyEnd, start, last, hasEscape)
    at = spaceEnd(object, last)
    if (object.charCodeAt(at) === COMMA) at = spaceEnd(object, at + 1)
  }
  return last
}

/** The name whose bounds these are, quotes included. */
export const nameAt = (text: string, start: number, end: number, hasEscape: boolean): string =>
  hasEscape ? (JSON.parse(text.slice(start, end)) as string) : text.slice(start + 1, end - 1)

/** Whether a JSON text is that of an object. */
export const isObject = (text: string): boolean => text.charCodeAt(spaceEnd(text, 0)) === OPEN_BRACE
