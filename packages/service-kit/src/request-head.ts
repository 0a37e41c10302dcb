import type { ErrorCode } from '@keelson/contracts'
import type { IncomingMessage } from 'node:http'
import { ApiError } from './api-error.ts'

export const MAX_HEADERS = 100

/** Headers that mean something only once. Node keeps one of several; which one, another hop may see differently. */
const SINGLETONS: ReadonlyMap<string, ErrorCode> = new Map([
  ['authorization', 'unauthenticated'],
  ['x-api-key', 'unauthenticated'],
  ['x-agent-api-key', 'unauthenticated'],
  ['x-selected-account-id', 'malformed_request'],
  ['host', 'malformed_request'],
  ['content-type', 'malformed_request'],
  ['content-encoding', 'malformed_request'],
  ['content-length', 'malformed_request'],
  ['idempotency-key', 'malformed_request'],
  ['if-match', 'malformed_request'],
  ['if-none-match', 'malformed_request'],
])

/**
 * Checks what Node lets through in the head of a request.
 *
 * @throws ApiError `headers_too_large`, `malformed_request`, `unauthenticated`
 */
export const checkHead = ({ rawHeaders, httpVersion, headers }: IncomingMessage): void => {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    throw new ApiError('headers_too_large', `The request has more than ${MAX_HEADERS} headers`)
  }
  if (httpVersion === '1.1' && !headers.host) throw new ApiError('malformed_request', 'The Host header is missing')
  let seen = ''
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    const code = SINGLETONS.get(name)
    if (!code) continue
    if (seen.includes(`,${name},`)) throw new ApiError(code, `The header ${name} is given more than once`)
    seen += `,${name},`
  }
}
