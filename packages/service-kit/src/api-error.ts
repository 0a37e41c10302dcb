import { ERRORS, type ErrorCode, type Problem } from '@keelson/contracts'

export type FieldProblem = NonNullable<Problem['errors']>[number]

export type ApiErrorOptions = {
  /** What is wrong with which field; never a value that was sent. */
  errors?: FieldProblem[]
  /** When to come back; 429 and 503 always say so, with 1 s when left out. */
  retryAfterSeconds?: number
  /** More headers for the answer. */
  headers?: Record<string, string>
  /** For the log of a 5xx; never answered. */
  cause?: unknown
}

/** The one error that stores, verbs and routes throw to fail a request; its status comes from the catalogue. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: string
  readonly errors: FieldProblem[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string> | undefined

  /**
   * @param code the catalogued error, which decides the status
   * @param detail a sentence for people; must hold no secret, no SQL, no name of a class
   */
  constructor(code: ErrorCode, detail?: string, options: ApiErrorOptions = {}) {
    super(detail ?? ERRORS[code].title, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = ERRORS[code].status
    this.detail = this.message
    this.errors = options.errors
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers
  }
}

/**
 * Fails with 422 for a field that only a look beyond the request tells to be wrong.
 *
 * @param path where the field is, as in `errors` of a problem
 * @param message what is wrong, to be read after the path; never a value that was sent
 * @throws ApiError `invalid_request`
 */
export const invalidField = (path: string, message: string): never => {
  throw new ApiError('invalid_request', `${path} ${message}`, { errors: [{ path, message }] })
}

/**
 * Fails with 404, the same for an object that is missing and for one of another account.
 *
 * @param kind what was looked for, as a noun: `span`, `credential`
 * @throws ApiError `not_found`
 */
export const notFound = (kind: string): never => {
  throw new ApiError('not_found', `There is no such ${kind}`)
}
