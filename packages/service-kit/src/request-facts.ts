import type { ErrorCode } from '@keelson/contracts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { BodyBudget } from './body-budget.ts'
import type { Crowd } from './crowd.ts'
import type { Principal } from './principal.ts'

/** The sockets behind a request; absent in memory. */
export type Connection = { incoming?: IncomingMessage; outgoing?: ServerResponse }

/** What is known of one request while it is answered: `c.env` of a raw handler. */
export type RequestFacts = Connection & {
  readonly requestId: string
  /** W3C trace context, when the caller sent a well-formed one. */
  traceparent: string | null
  readonly startedAt: number
  /** The path as it was received, never decoded. */
  readonly path: string
  /** The query as it was received, without `?`. */
  readonly query: string
  /** The pattern that answers, for logs and metrics. */
  route: string
  principal: Principal | null
  errorCode: ErrorCode | null
  /** What a 5xx came from, for the log. */
  cause: unknown
  /** Among whom the request is worked on. */
  readonly crowd: Crowd
  /** Where the body finds room. */
  readonly bodies: BodyBudget
  /** What the body holds of it. */
  bodyBytes: number
  /** The work that goes on after its caller was told not to wait. */
  unfinished: Promise<unknown> | null
  /** The answer ends later than it could: when the client has sent the rest of a body that was refused. */
  lingers: boolean
  /** Where the key stands, as headers; absent where no key was asked for. */
  rateLimit: Record<string, string> | undefined
  /** What the handler adds to the answer. */
  headers: Record<string, string> | undefined
}

const REQUEST_ID = /^[\w.-]{1,128}$/
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** Where the path begins in a request target, which may be in absolute form. */
const pathStart = (target: string): number => {
  if (target.charCodeAt(0) === 0x2f) return 0
  const authority = target.indexOf('://')
  const slash = authority === -1 ? -1 : target.indexOf('/', authority + 3)
  return slash === -1 ? target.length : slash
}

export const requestFacts = (
  request: Request,
  { incoming, outgoing }: Connection,
  { bodies, crowd }: Pick<RequestFacts, 'bodies' | 'crowd'>,
): RequestFacts => {
  const target = incoming?.url ?? request.url
  const start = pathStart(target)
  const hash = target.indexOf('#', start)
  const end = hash === -1 ? target.length : hash
  const question = target.indexOf('?', start)
  const pathEnd = question === -1 || question > end ? end : question
  const requestId = request.headers.get('x-request-id')
  const traceparent = request.headers.get('traceparent')
  return {
    ...(incoming && { incoming }),
    ...(outgoing && { outgoing }),
    requestId: requestId !== null && REQUEST_ID.test(requestId) ? requestId : randomUUID(),
    traceparent: traceparent !== null && TRACEPARENT.test(traceparent) ? traceparent : null,
    startedAt: performance.now(),
    path: target.slice(start, pathEnd) || '/',
    query: target.slice(Math.min(pathEnd + 1, end), end),
    route: 'unmatched',
    principal: null,
    errorCode: null,
    cause: undefined,
    crowd,
    bodies,
    bodyBytes: 0,
    unfinished: null,
    lingers: false,
    rateLimit: undefined,
    headers: undefined,
  }
}
