import { ERRORS, type Problem } from '@keelson/contracts'
import { ApiError } from './api-error.ts'

const PROBLEM_TYPE = 'https://keelson.dev/problems/'

/** Conflicts that a repetition may resolve; every other 409 answers the same for ever. */
const PASSING_CONFLICTS: ReadonlySet<string> = new Set(['request_in_progress'])

export type ProblemAnswer = { status: number; headers: Record<string, string>; body: string }

const headersOf = (
  { code, status, headers, retryAfterSeconds }: ApiError,
  challenge: string,
): Record<string, string> => ({
  'content-type': 'application/problem+json',
  ...((status === 429 || status === 503) && { 'retry-after': '1' }),
  ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) }),
  ...(status === 409 && !PASSING_CONFLICTS.has(code) && { 'x-should-retry': 'false' }),
  ...(status === 401 && { 'www-authenticate': challenge }),
  ...headers,
})

/** An error as RFC 9457 problem details. */
export const problemOf = ({ code, status, detail, errors }: ApiError, requestId: string): Problem => ({
  type: PROBLEM_TYPE + code,
  title: ERRORS[code].title,
  status,
  detail,
  code,
  request_id: requestId,
  ...(errors && { errors }),
})

/**
 * The answer to a failed request.
 *
 * @param challenge the `WWW-Authenticate` of a 401
 */
export const problemAnswer = (error: ApiError, requestId: string, challenge: string): ProblemAnswer => {
  return {
    status: error.status,
    headers: headersOf(error, challenge),
    body: JSON.stringify(problemOf(error, requestId)),
  }
}

/**
 * Makes an {@link ApiError} of whatever was thrown: a passing fault of the database is 503, anything unknown a 500
 * that says nothing of its cause.
 */
export const toApiError = (thrown: unknown, isTransient: (error: unknown) => boolean): ApiError => {
  if (thrown instanceof ApiError) return thrown
  if (isTransient(thrown)) {
    return new ApiError('unavailable', 'The service cannot reach what it depends on; try again', { cause: thrown })
  }
  return new ApiError('internal', 'Something failed on our side; the request id identifies it', { cause: thrown })
}
