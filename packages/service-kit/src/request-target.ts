import { ApiError, type FieldProblem } from './api-error.ts'

const decode = (text: string, part: string): string => {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ApiError('malformed_request', `The ${part} is not percent-encoded UTF-8`)
  }
}

export type PathPattern = { name: string; segment: number }[]

/** Where the parameters of `/spans/{span_id}` stand among the segments of a path. */
export const pathPattern = (path: string): PathPattern =>
  path.split('/').flatMap((part, segment) => (part.startsWith('{') ? [{ name: part.slice(1, -1), segment }] : []))

/**
 * The parameters of a path, decoded once.
 *
 * @throws ApiError `malformed_request` for a bad percent-encoding, `not_found` for a NUL, which no id holds
 */
export const readParams = (pattern: PathPattern, path: string): Record<string, string> => {
  const segments = path.split('/')
  const params: Record<string, string> = {}
  for (const { name, segment } of pattern) {
    const value = decode(segments[segment] ?? '', 'path')
    if (value.includes('\0')) throw new ApiError('not_found')
    params[name] = value
  }
  return params
}

/**
 * The declared parameters of a query, decoded once; others are ignored once they decode.
 *
 * @throws ApiError `malformed_request` for a bad percent-encoding, `invalid_request` for a parameter given twice or a NUL
 */
export const readQuery = (declared: ReadonlySet<string>, query: string): Record<string, string> => {
  const values: Record<string, string> = {}
  const errors: FieldProblem[] = []
  for (const pair of query === '' ? [] : query.replaceAll('+', ' ').split('&')) {
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), 'query')
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1), 'query')
    if (!declared.has(name)) continue
    if (Object.hasOwn(values, name)) errors.push({ path: name, message: 'given more than once' })
    else if (value.includes('\0')) errors.push({ path: name, message: 'holds U+0000' })
    values[name] = value
  }
  if (errors.length > 0) throw new ApiError('invalid_request', 'The request is not valid', { errors })
  return values
}
