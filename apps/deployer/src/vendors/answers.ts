import type { Answer } from './http.ts'
import { redact } from './redact.ts'
import { VendorError } from './vendor-error.ts'

export type Facts = { [key: string]: unknown }

export const isFacts = (value: unknown): value is Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const validationIssue = (issue: unknown): string => {
  if (!isFacts(issue)) return ''
  const path = Array.isArray(issue['loc']) ? issue['loc'].filter((part) => part !== 'body').join('.') : ''
  return [path, issue['msg']].filter((part) => typeof part === 'string' && part !== '').join(': ')
}

/** The vendor's message: `detail` as text or as a list of validation issues, or the `error` of its middleware. */
const messageOf = ({ body, status }: Answer): string => {
  if (!isFacts(body)) return `HTTP ${status}`
  const { detail, error } = body
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail)) return detail.map(validationIssue).filter(Boolean).join('; ')
  return typeof error === 'string' ? error : `HTTP ${status}`
}

const IMAGE = /\b(docker )?image\b.*\b(not found|does not exist|could not be found)\b|\bimage not found\b/is
const NOT_YET = /try again later|please retry/i

/** Whether a create was refused because the endpoint is there already; this vendor answers 400, not 409. */
export const saysExists = (answer: Answer): boolean =>
  answer.status === 400 && /already exists/i.test(messageOf(answer))

/**
 * What an answer that is no success means for a deployment.
 *
 * @param isWrite whether the request may have changed something
 * @param secrets never to appear in the message
 */
export const errorOf = (answer: Answer, isWrite: boolean, secrets: readonly string[]): VendorError => {
  const { status, retryAfterMs } = answer
  const message = messageOf(answer)
  const detail = redact(message, secrets)
  if (status === 401 || status === 403) return new VendorError('vendor_unauthorized', { detail, retryable: false })
  if (status === 409) return new VendorError('vendor_busy', { detail, retryable: true, retryAfterMs })
  if (status === 500 && NOT_YET.test(message))
    return new VendorError('vendor_busy', { detail, retryable: true, retryAfterMs })
  if (status === 500) return new VendorError('vendor_error', { detail, retryable: true, retryAfterMs })
  if (status >= 500 || status === 429 || status === 408 || status < 400) {
    // A gateway that gave up does not know what happens behind it.
    const uncertain = isWrite && (status === 502 || status === 504 || status === 408)
    return new VendorError('vendor_unavailable', { detail, retryable: true, retryAfterMs, uncertain })
  }
  return new VendorError(IMAGE.test(message) ? 'image_not_found' : 'vendor_rejected', { detail, retryable: false })
}

/** Like {@link errorOf}, for an update: an endpoint that was just found and is gone now was found in a cache. */
export const updateErrorOf = (answer: Answer, secrets: readonly string[]): VendorError => {
  const error = errorOf(answer, true, secrets)
  if (answer.status !== 404 || error.reason === 'image_not_found') return error
  return new VendorError('vendor_error', { detail: error.detail, retryable: true })
}

export const isOk = ({ status }: Answer): boolean => status >= 200 && status < 300

/** A success whose body is not what the vendor documents. */
export const malformed = (what: string): VendorError =>
  new VendorError('vendor_unavailable', { detail: `its answer has no ${what}`, retryable: true })
