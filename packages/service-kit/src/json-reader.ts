import { JsonText } from '@keelson/contracts'
import { parseJson } from '@keelson/contracts/json'
import { ApiError } from './api-error.ts'
import { type Flaw, MAX_DEPTH, MAX_MEMBERS, type Path, type Scan, scanJson, type Slice } from './json-scan.ts'
import { declaredPath, holdsBase64, type Shape } from './json-shape.ts'
import { cutBase64, LARGE } from './large-base64.ts'
import { flatText, shallowText } from './shallow-json.ts'

const FLAWS: Record<Exclude<Flaw, 'duplicate_key'>, string> = {
  prototype_key: 'the name __proto__ is not accepted',
  number: 'the number cannot be held exactly',
  text: 'the text holds U+0000 or half of a surrogate pair',
  name: 'a name holds U+0000 or half of a surrogate pair',
  members: `the body has more than ${MAX_MEMBERS} members`,
  depth: `must not be nested deeper than ${MAX_DEPTH} levels`,
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new ApiError('malformed_json', 'The body is not valid UTF-8')
  }
}

/** The engine's message quotes the body, so only the position is taken from it. */
const malformed = (text: string, error: unknown): ApiError => {
  if (text.startsWith('\u{feff}')) return new ApiError('malformed_json', 'The body begins with a byte order mark')
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  const where = position === undefined ? '' : ` at position ${position}`
  return new ApiError('malformed_json', `The body is not well-formed JSON${where}`)
}

/** Of a text and the items in it that nest too deep, what can be parsed: that of the whole would take seconds. */
const shallow = (text: string, deep: readonly Slice[]): string => {
  let kept = ''
  let from = 0
  for (const { start, end } of deep) {
    kept += text.slice(from, start) + shallowText(text, start)
    from = end
  }
  return kept + text.slice(from)
}

const parse = ({ text, slices }: Scan): unknown => {
  const deep = slices.filter(({ isTooDeep }) => isTooDeep)
  try {
    for (const { start, end } of deep) JSON.parse(flatText(text, start, end))
    return parseJson(shallow(text, deep))
  } catch (error) {
    // What was parsed instead of the text has other positions.
    throw malformed(text, deep.length === 0 ? error : null)
  }
}

const refuse = (flaw: Flaw, path: Path, shape: Shape): never => {
  if (flaw === 'duplicate_key') throw new ApiError('malformed_json', 'An object of the body has the same name twice')
  // Of what nests too deep the outermost place says most.
  const place = flaw === 'depth' ? path.slice(0, 1) : path
  const errors = [{ path: declaredPath(shape, place), message: FLAWS[flaw] }]
  throw new ApiError('invalid_request', 'The request is not valid', { errors })
}

type Container = Record<string | number, unknown>

const parentAt = (root: unknown, path: Path): Container => {
  let parent = root as Container
  for (let step = 0; step < path.length - 1; step++) parent = parent[path[step]!] as Container
  return parent
}

const graft = (root: unknown, { text, slices, base64 }: Scan): unknown => {
  for (const { path, start, end, isTooDeep } of slices) {
    const name = path.at(-1)
    if (name === undefined) return new JsonText(text.slice(start, end), root)
    const parent = parentAt(root, path)
    // Items of a list wait for each other, as text: what they parse to weighs several times as much.
    const isParsedLater = typeof name === 'number' && !isTooDeep
    parent[name] = new JsonText(text.slice(start, end), isParsedLater ? undefined : parent[name])
  }
  for (const { path, value } of base64) parentAt(root, path)[path.at(-1)!] = value
  return root
}

/** Checks a text that is known to be JSON, whose value this is, and puts {@link JsonText} where the shape has it. */
const settle = (value: unknown, scan: Scan, shape: Shape): unknown => {
  if (scan.flaw) refuse(scan.flaw, scan.flawPath, shape)
  return graft(value, scan)
}

/**
 * A reader of a free-form value that has a schema after all, such as an item of a batch, as if it were a body of its
 * own. It takes the value over: what `item.value` holds is changed.
 */
export const textReader = (shape: Shape) => {
  return (item: JsonText): unknown => settle(item.value, scanJson(item.text, shape), shape)
}

/** Reads a body without its large base64, and puts that in its place; `null` for whatever needs a look at the whole. */
const readCut = (bytes: Uint8Array, shape: Shape): unknown => {
  try {
    const body = cutBase64(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), decode)
    const scan = body && scanJson(body.text, shape, body.base64)
    if (!scan || scan.flaw || scan.base64.length < body.base64.size) return null
    return settle(parse(scan), scan, shape)
  } catch {
    return null
  }
}

/**
 * A reader of the bodies of one operation. Free-form values, where the shape has them, arrive as {@link JsonText} with
 * the caller's own text, and large base64 as `Base64Bytes`; outside of them a body must be I-JSON (RFC 7493): no name twice, no number or text that
 * JavaScript would change.
 *
 * @throws ApiError `malformed_json` for what is no UTF-8, no JSON or has a name twice; `invalid_request` for the rest
 */
export const jsonReader = (shape: Shape) => {
  const mayBeCut = holdsBase64(shape)
  return (bytes: Uint8Array): unknown => {
    const value = mayBeCut && bytes.length > LARGE ? readCut(bytes, shape) : null
    if (value !== null) return value
    const text = decode(bytes)
    const scan = scanJson(text, shape)
    // Before the parse, which would take seconds and the stack for a million open brackets.
    if (scan.flaw === 'depth') refuse('depth', scan.flawPath, shape)
    return settle(parse(scan), scan, shape)
  }
}
