import { ApiError, invalidField } from '@keelson/service-kit'

export const FORWARD_PREFIX = '/agents/forward/name/'

/** Where a request to the ingress wants to go, decoded once. */
export type ForwardTarget = { agent_name: string; segments: string[] }

const MAX_SEGMENTS = 32
const MAX_SEGMENT_BYTES = 255
const MAX_QUERY = 8192

/** What nearly every segment looks like: nothing in it can mean something else, or is ever encoded. */
const UNRESERVED = /^[\w~-][\w.~-]{0,254}$/
const VISIBLE_ASCII = /^[\x21-\x7e]*$/
const CONTROL_OR_SEPARATOR = /[\p{Cc}/\\;]/u
/** An encoding inside an encoding: some later hop would decode it to something that was never checked. */
const ENCODED_TWICE = /%[0-9a-f]{2}/i

const refuse = (what: string): never => {
  throw new ApiError('malformed_request', `The ${what} cannot be forwarded`)
}

/** Whether a segment means the same to every hop, and leads nowhere but down. */
const isPlain = (segment: string): boolean =>
  UNRESERVED.test(segment) ||
  (segment !== '.' &&
    segment !== '..' &&
    segment.isWellFormed() &&
    !CONTROL_OR_SEPARATOR.test(segment) &&
    !ENCODED_TWICE.test(segment) &&
    Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES)

/** Whether segments can be forwarded; only the last may be empty, for a path that ends in `/`. */
const arePlain = (segments: readonly string[]): boolean =>
  segments.length <= MAX_SEGMENTS &&
  segments.every((segment, index) => isPlain(segment) && (segment !== '' || index === segments.length - 1))

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return refuse('path')
  }
}

/**
 * Reads the path of a request to the ingress as it was received: each segment decodes once, to plain text.
 *
 * @throws ApiError `malformed_request` for dot segments, separators, control characters and double encodings
 */
export const readTarget = (path: string): ForwardTarget => {
  if (!path.startsWith(FORWARD_PREFIX) || !VISIBLE_ASCII.test(path)) return refuse('path')
  const [agent_name = '', ...segments] = path.slice(FORWARD_PREFIX.length).split('/').map(decode)
  if (!isPlain(agent_name) || agent_name === '' || !arePlain(segments)) return refuse('path')
  return { agent_name, segments }
}

/** @throws ApiError `malformed_request` */
export const checkQuery = (query: string): string =>
  VISIBLE_ASCII.test(query) && query.length <= MAX_QUERY ? query : refuse('query')

/** Percent-encodes all but unreserved characters. */
const encodeSegment = (segment: string): string =>
  UNRESERVED.test(segment)
    ? segment
    : encodeURIComponent(segment).replaceAll(
        /[!'()*]/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
      )

export const encodeSegments = (segments: readonly string[]): string => segments.map(encodeSegment).join('/')

/** Percent-encodes a path of ours, `/` kept. */
export const encodePath = (path: string): string => encodeSegments(path.split('/'))

/** The segments that a key is bound to; `null` opens every path. */
export const boundSegments = (forward_path: string | null): string[] =>
  (forward_path ?? '').split('/').filter((segment) => segment !== '')

/** Whether a key opens a path: its own and what lies below. */
export const opens = (bound: readonly string[], segments: readonly string[]): boolean =>
  bound.every((segment, index) => segments[index] === segment)

/**
 * A path to bind a key to, which must be one that can be forwarded.
 *
 * @throws ApiError `invalid_request`
 */
export const assertForwardPath = (path: string): string => {
  if (arePlain(path.split('/'))) return path
  return invalidField(
    'forward_path',
    'must be segments that can be forwarded: none empty, no \\ or ;, nothing encoded twice',
  )
}

/** The agent's address with a path below it; segments are encoded again, so the path never climbs. */
export const agentUrl = (acp_url: string, path: string, query: string): URL => {
  const base = new URL(acp_url)
  const root = base.pathname.replace(/\/+$/, '')
  const below = path === '' ? root || '/' : `${root}/${path}`
  return new URL(`${base.origin}${below}${query === '' ? '' : `?${query}`}`)
}
