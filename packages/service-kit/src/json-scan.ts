import type { Base64Bytes } from '@keelson/contracts'
import {
  CLOSE_BRACKET,
  COLON,
  COMMA,
  hasEscape,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
  stringValue,
  valueEnd,
} from '@keelson/contracts/json'
import { holdsExactly } from './json-number.ts'
import type { Shape } from './json-shape.ts'
import type { CutBody } from './large-base64.ts'

/** What would not survive being read, and so may not stand outside free-form values; nesting counts everywhere. */
export type Flaw = 'duplicate_key' | 'prototype_key' | 'number' | 'text' | 'name' | 'members' | 'depth'

export type Path = (string | number)[]

export const MAX_DEPTH = 128
/** Keys and items outside free-form values: as many as validation is willing to look at. */
export const MAX_MEMBERS = 200_000
/** Up to here a list of names is searched faster than a set is built. */
const FEW_NAMES = 12

/** One pass over a text. Its findings mean something only when `JSON.parse` accepts the text too. */
export type Scan = {
  readonly text: string
  readonly escapes: boolean
  at: number
  members: number
  /** Where the pass stands. */
  readonly path: Path
  /** The first flaw, if any, and where it was met. */
  flaw: Flaw | null
  flawPath: Path
  /** The free-form values. */
  readonly slices: Slice[]
  readonly cut: CutBody['base64'] | null
  /** What was cut out and belongs where it stood. */
  readonly base64: { path: Path; value: Base64Bytes }[]
}

export type Slice = { path: Path; start: number; end: number; isTooDeep: boolean }

/** Ends the pass: at a flaw, or where the text is no JSON, which `JSON.parse` will say. */
const stop = (scan: Scan, flaw: Flaw | null): void => {
  scan.flaw = flaw
  scan.flawPath = [...scan.path]
  scan.at = scan.text.length
}

const skipSpace = (scan: Scan): number => {
  const { text } = scan
  let code = text.charCodeAt(scan.at)
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++scan.at)
  return code
}

const isHeld = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

const scanString = (scan: Scan): void => {
  const start = scan.at
  scan.at = stringEnd(scan.text, start)
  if (!scan.escapes || !hasEscape(scan.text, start, scan.at)) return
  const value = stringValue(scan.text, start, scan.at)
  if (value === null || !isHeld(value)) stop(scan, 'text')
}

const scanName = (scan: Scan): string => {
  const start = scan.at
  scan.at = stringEnd(scan.text, start)
  return (scan.escapes ? stringValue(scan.text, start, scan.at) : null) ?? scan.text.slice(start + 1, scan.at - 1)
}

const scanText = (scan: Scan, shape: Shape | null): void => {
  const value = scan.cut?.get(scan.at)
  if (value && shape?.isBase64) scan.base64.push({ path: [...scan.path], value })
  scanString(scan)
}

/** A number; `true`, `false` and `null` are held exactly as well. */
const scanScalar = (scan: Scan): void => {
  const start = scan.at
  scan.at = valueEnd(scan.text, start, 0, 0)
  if (!holdsExactly(scan.text, start, scan.at)) stop(scan, 'number')
}

/** No path could tell the member, so its object is told. */
const stopAtName = (scan: Scan): void => {
  scan.path.pop()
  stop(scan, 'name')
}

/** Of a member that an object does not declare nothing is read, so nothing in it can be wrong but its nesting. */
const passOver = (scan: Scan, depth: number): void => {
  skipSpace(scan)
  const end = valueEnd(scan.text, scan.at, depth, MAX_DEPTH)
  if (end === -1) stop(scan, 'depth')
  else scan.at = end
}

const scanObject = (scan: Scan, shape: Shape | null, depth: number): void => {
  const { path } = scan
  const list: string[] = []
  let names: Set<string> | null = null
  const depthOfPath = path.push('') - 1
  scan.at++
  let code = skipSpace(scan)
  while (code === QUOTE) {
    const name = scanName(scan)
    const member = shape?.keys?.get(name) ?? shape?.rest ?? null
    const isRead = member !== null || !shape?.keys
    if (isRead && scan.escapes && !isHeld(name)) return stopAtName(scan)
    path[depthOfPath] = name
    if (names ? names.has(name) : list.includes(name)) return stop(scan, 'duplicate_key')
    if (names) names.add(name)
    else if (list.push(name) > FEW_NAMES) names = new Set(list)
    if (name === '__proto__') return stop(scan, 'prototype_key')
    if (++scan.members > MAX_MEMBERS) return stop(scan, 'members')
    if (skipSpace(scan) !== COLON) return stop(scan, null)
    scan.at++
    if (isRead) scanValue(scan, member, depth)
    else passOver(scan, depth)
    code = skipSpace(scan)
    if (code !== COMMA) break
    scan.at++
    code = skipSpace(scan)
  }
  path.pop()
  scan.at++
}

const scanArray = (scan: Scan, shape: Shape | null, depth: number): void => {
  const { path } = scan
  const items = shape?.items ?? null
  const depthOfPath = path.push(0) - 1
  scan.at++
  let code = skipSpace(scan)
  for (let index = 0; code !== CLOSE_BRACKET; index++) {
    path[depthOfPath] = index
    if (++scan.members > MAX_MEMBERS) return stop(scan, 'members')
    scanValue(scan, items, depth)
    code = skipSpace(scan)
    if (code !== COMMA) break
    scan.at++
    code = skipSpace(scan)
  }
  path.pop()
  scan.at++
}

/** An item of a list counts its levels anew, and what is wrong with it is told by whoever reads it. */
const keep = (scan: Scan, depth: number): void => {
  const { text, at: start, path } = scan
  const isItem = typeof path.at(-1) === 'number'
  const end = valueEnd(text, start, isItem ? 0 : depth, MAX_DEPTH)
  const isTooDeep = end === -1
  if (isTooDeep && !isItem) return stop(scan, 'depth')
  scan.at = isTooDeep ? valueEnd(text, start, 0, Infinity) : end
  scan.slices.push({ path: [...path], start, end: scan.at, isTooDeep })
}

const isKept = (shape: Shape | null, code: number): boolean => {
  if (!shape?.freeForm) return false
  return code === OPEN_BRACE || code === OPEN_BRACKET || shape.freeForm === 'always'
}

/** `null` is never kept as text: it is its own text, and optional fields take it for "not given". */
const isNull = (text: string, at: number): boolean => text.startsWith('null', at)

const scanValue = (scan: Scan, shape: Shape | null, depth: number): void => {
  const code = skipSpace(scan)
  const isContainer = code === OPEN_BRACE || code === OPEN_BRACKET
  if (isContainer && depth === MAX_DEPTH) stop(scan, 'depth')
  else if (isKept(shape, code) && !isNull(scan.text, scan.at)) keep(scan, depth)
  else if (code === QUOTE) scanText(scan, shape)
  else if (code === OPEN_BRACE) scanObject(scan, shape, depth + 1)
  else if (code === OPEN_BRACKET) scanArray(scan, shape, depth + 1)
  else scanScalar(scan)
}

/** Finds, in one linear pass, the free-form values of a text and the first thing that would not survive being read. */
export const scanJson = (text: string, shape: Shape, cut: CutBody['base64'] | null = null): Scan => {
  const escapes = text.includes('\\')
  const found = { flaw: null, flawPath: [], slices: [], base64: [] }
  const scan: Scan = { text, escapes, at: 0, members: 0, path: [], cut, ...found }
  scanValue(scan, shape, 0)
  return scan
}
