import { CLOSE_BRACE, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, spaceEnd, valueEnd } from '@keelson/contracts/json'

const isContainer = (code: number): boolean => code === OPEN_BRACE || code === OPEN_BRACKET

/**
 * The object that begins at `start` with `null` for each member that holds others, however deep those nest: as much of
 * it as can be parsed in no time. `null` for whatever is no object.
 */
export const shallowText = (text: string, start: number): string => {
  if (text.charCodeAt(start) !== OPEN_BRACE) return 'null'
  const members: string[] = []
  let at = spaceEnd(text, start + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = valueEnd(text, at, 0, 0)
    const colon = spaceEnd(text, nameEnd)
    const value = spaceEnd(text, colon + 1)
    const end = valueEnd(text, value, 0, Infinity)
    if (text.charCodeAt(colon) !== COLON) return 'null'
    members.push(`${text.slice(at, nameEnd)}:${isContainer(text.charCodeAt(value)) ? 'null' : text.slice(value, end)}`)
    at = spaceEnd(text, end)
    if (text.charCodeAt(at) === COMMA) at = spaceEnd(text, at + 1)
  }
  return text.charCodeAt(at) === CLOSE_BRACE ? `{${members.join(',')}}` : 'null'
}
