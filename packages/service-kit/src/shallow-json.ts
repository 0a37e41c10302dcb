import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  spaceEnd,
  stringEnd,
  valueEnd,
} from '@keelson/contracts/json'
import { MAX_DEPTH } from './json-scan.ts'

const isOpening = (code: number): boolean => code === OPEN_BRACE || code === OPEN_BRACKET
const isClosing = (code: number): boolean => code === CLOSE_BRACE || code === CLOSE_BRACKET

/**
 * The object that begins at `start` with `null` for each member that holds others, however deep those nest: as much of
 * it as can be parsed in no time. `null` for a list. The text must be known to be JSON.
 */
export const shallowText = (text: string, start: number): string => {
  if (text.charCodeAt(start) !== OPEN_BRACE) return 'null'
  const members: string[] = []
  let at = spaceEnd(text, start + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = valueEnd(text, at, 0, 0)
    const value = spaceEnd(text, spaceEnd(text, nameEnd) + 1)
    const end = valueEnd(text, value, 0, Infinity)
    members.push(`${text.slice(at, nameEnd)}:${isOpening(text.charCodeAt(value)) ? 'null' : text.slice(value, end)}`)
    at = spaceEnd(text, end)
    if (text.charCodeAt(at) === COMMA) at = spaceEnd(text, at + 1)
  }
  return `{${members.join(',')}}`
}

/**
 * A list of the pieces of an object or list, with `null` where a piece of a deeper level was: well-formed exactly when
 * the whole is, and nested little deeper than {@link MAX_DEPTH} levels, however deep that nests.
 */
export const flatText = (text: string, start: number, end: number): string => {
  const pieces = new Set<string>()
  const waiting: string[] = []
  let piece = ''
  let from = start
  let level = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at) - 1
    else if (isOpening(code)) {
      if (level > 0 && level % MAX_DEPTH === 0) {
        waiting.push(`${piece}${text.slice(from, at)}null`)
        piece = ''
        from = at
      }
      level++
    } else if (isClosing(code)) {
      level--
      if (level > 0 && level % MAX_DEPTH === 0) {
        pieces.add(piece + text.slice(from, at + 1))
        piece = waiting.pop()!
        from = at + 1
      }
    }
  }
  pieces.add(piece + text.slice(from, end))
  return `[${[...pieces].join(',')}]`
}
