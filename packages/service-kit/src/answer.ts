import type { ErrorCode } from '@keelson/contracts'
import type { ApiError } from './api-error.ts'
import { problemAnswer } from './problems.ts'
import type { RequestFacts } from './request-facts.ts'
import { endingWithBody, isStillSending } from './unread-body.ts'

/** The headers of every answer. */
export const commonHeaders = ({ requestId }: RequestFacts): Record<string, string> => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
})

/** An answer of JSON text. */
export const jsonResponse = (facts: RequestFacts, status: number, body: string, headers?: Record<string, string>) =>
  new Response(body, { status, headers: { ...commonHeaders(facts), 'content-type': 'application/json', ...headers } })

export const emptyResponse = (facts: RequestFacts, headers?: Record<string, string>) =>
  new Response(null, { status: 204, headers: { ...commonHeaders(facts), ...headers } })

/** The answer to a reader who has the object already: its headers alone. */
export const notModifiedResponse = (facts: RequestFacts): Response =>
  new Response(null, { status: 304, headers: { ...commonHeaders(facts), ...facts.headers } })

export const problemResponse = (facts: RequestFacts, error: ApiError, challenge: string): Response => {
  facts.errorCode = error.code satisfies ErrorCode
  if (error.status >= 500) facts.cause = error.cause
  const { status, headers, body } = problemAnswer(error, facts.requestId, challenge)
  const all = { ...commonHeaders(facts), ...headers }
  const { incoming } = facts
  if (!incoming || !isStillSending(incoming)) return new Response(body, { status, headers: all })
  facts.lingers = true
  const bytes = Buffer.from(body)
  return new Response(endingWithBody(bytes, incoming), {
    status,
    headers: { ...all, 'content-length': String(bytes.length) },
  })
}

/** Adds the common headers to an answer made elsewhere, whose headers may be read-only. */
export const withCommonHeaders = (response: Response, facts: RequestFacts): Response => {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(commonHeaders(facts))) {
    if (name !== 'cache-control' || !headers.has(name)) headers.set(name, value)
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
