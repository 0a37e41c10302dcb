import type { ErrorCode } from '@keelson/contracts'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { BodyBudget } from './body-budget.ts'
import type { Crowd } from './crowd.ts'
import type { Principal } from './principal.ts'

/** The sockets behind a request; absent in memory. */
export type Connection = { incoming?: IncomingMessage; outgoing?: ServerResponse }

/** The headers of a request as they were received; names in lower case. */
export type HeaderReader = Pick<Headers, 'get'>

/** What is known of one request while it is answered: `c.env` of a raw handler. */
export type RequestFacts = Connection & {
  readonly received: HeaderReader
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

/** Straight from what Node has parsed: a `Headers` over it looks through all names again for each. */
class IncomingHeaders implements HeaderReader {
  private readonly fields: IncomingHttpHeaders

  constructor(fields: IncomingHttpHeaders) {
    this.fields = fields
  }

  get(name: string): string | null {
    return this.fields[name]?.toString() ?? null
  }
}

/** What is looked at in the head of a request before it is known what it asks for. */
export type Head = { target: string; received: HeaderReader }

export const headOf = ({ url = '/', headers }: IncomingMessage): Head => ({
  target: url,
  received: new IncomingHeaders(headers),
})

export const headInMemory = ({ url, headers }: Request): Head => ({ target: url, received: headers })

const partsOf = (target: string): { path: string; query: string } => {
  const start = pathStart(target)
  const hash = target.indexOf('#', start)
  const end = hash === -1 ? target.length : hash
  const question = target.indexOf('?', start)
  const pathEnd = question === -1 || question > end ? end : question
  return { path: target.slice(start, pathEnd) || '/', query: target.slice(Math.min(pathEnd + 1, end), end) }
}

/** The path of a request as it was received. */
export const pathOf = ({ url = '/' }: IncomingMessage): string => partsOf(url).path

export const requestFacts = (
  { target, received }: Head,
  { incoming, outgoing }: Connection,
  { bodies, crowd }: Pick<RequestFacts, 'bodies' | 'crowd'>,
): RequestFacts => {
  const requestId = received.get('x-request-id')
  const traceparent = received.get('traceparent')
  return {
    ...(incoming && { incoming }),
    ...(outgoing && { outgoing }),
    received,
    requestId: requestId !== null && REQUEST_ID.test(requestId) ? requestId : randomUUID(),
    traceparent: traceparent !== null && TRACEPARENT.test(traceparent) ? traceparent : null,
    startedAt: performance.now(),
    ...partsOf(target),
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
