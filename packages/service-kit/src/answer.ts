import type { ErrorCode } from '@keelson/contracts'
import type { ApiError } from './api-error.ts'
import { problemAnswer } from './problems.ts'
import type { RequestFacts } from './request-facts.ts'
import { endingWithBody, isStillSending } from './unread-body.ts'

/** The headers of every answer. */
export const commonHeaders = ({ requestId, rateLimit }: RequestFacts): Record<string, string> => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
  ...rateLimit,
})

/** An answer of JSON text. */
export const jsonResponse = (
  facts: RequestFacts,
  status: number,
  body: string | Uint8Array<ArrayBuffer>,
  headers?: Record<string, string>,
) =>
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

/** What a raw route answers: its parts, since a Response that is taken apart again costs more than a small request. */
export type RawAnswer = {
  status: number
  /** Names in lower case. */
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
}

/** An answer with the common headers, of which it may set its own `cache-control`. */
export const rawResponse = (facts: RequestFacts, { status, headers = {}, body = null }: RawAnswer): Response => {
  const { 'cache-control': cacheControl, ...common } = commonHeaders(facts)
  return new Response(body, { status, headers: { 'cache-control': cacheControl!, ...headers, ...common } })
}
