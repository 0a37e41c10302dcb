import { ApiError } from './api-error.ts'
import type { HeaderReader } from './request-facts.ts'

const TAG = /(W\/)?"([\x21\x23-\x7e]*)"/g
const TAGS = /^(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*$/

/** The tag of an object, RFC 9110 §8.8.3: strong, since a revision means the same bytes. */
export const entityTag = (revision: number): string => `"${revision}"`

type Listed = { isWeak: boolean; value: string }

/** The tags of a header; `null` when it holds anything else. */
const listedTags = (header: string): Listed[] | null =>
  TAGS.test(header)
    ? [...header.matchAll(TAG)].map(([, weak, value = '']) => ({ isWeak: weak !== undefined, value }))
    : null

/**
 * What `If-Match` asks for: `null` without the header and for `*`, which every object has; else the tags of which the
 * object must have one. Weak ones match none (RFC 9110 §13.1.1).
 *
 * @throws ApiError `malformed_request`
 */
export const ifMatch = (headers: HeaderReader): readonly string[] | null => {
  const header = headers.get('if-match')?.trim()
  if (header === undefined || header === '*') return null
  const tags = listedTags(header)
  if (!tags) throw new ApiError('malformed_request', 'If-Match must be entity tags, or *')
  return tags.flatMap(({ isWeak, value }) => (isWeak ? [] : [value]))
}

/** Whether a reader has the object already (RFC 9110 §13.1.2); tags that cannot be read are none. */
export const isKnownTo = (headers: HeaderReader, tag: string | undefined): boolean => {
  const header = headers.get('if-none-match')?.trim()
  if (header === undefined || tag === undefined) return false
  return header === '*' || (listedTags(header)?.some(({ value }) => `"${value}"` === tag) ?? false)
}

/**
 * Holds a change to what its caller had seen.
 *
 * @param wanted what `If-Match` asks for
 * @throws ApiError `precondition_failed`
 */
export const requireMatch = (wanted: readonly string[] | null, revision: number): void => {
  if (wanted !== null && !wanted.includes(String(revision))) preconditionFailed()
}

export const preconditionFailed = (): never => {
  throw new ApiError('precondition_failed', 'The object is not, or no longer, as If-Match says')
}
