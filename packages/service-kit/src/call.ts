import type { Logger } from './logger.ts'
import type { Principal } from './principal.ts'
import type { RequestFacts } from './request-facts.ts'

/** What a handler gets beside the parsed request. */
export type Call = {
  /** Who is calling. Reading it in an operation without a scope throws: nobody was authenticated. */
  readonly principal: Principal
  readonly requestId: string
  /** W3C trace context to pass on with requests of our own. */
  readonly traceparent: string | null
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  readonly headers: Headers
  /** Of which entity tags the object must have one to be changed; `null` asks for nothing. See `requireMatch`. */
  readonly ifMatch: readonly string[] | null
  readonly respond: { header: (name: string, value: string) => void }
  /** Carries the request id. */
  readonly log: Logger
}

export type Input = { params: unknown; query: unknown; body: unknown; ifMatch: readonly string[] | null }

const unauthenticated = (): never => {
  throw new Error('this operation has no scope, so it has no principal')
}

/** What costs something and is rarely wanted, the signal and the logger, is made when it is read. */
export const createCall = (request: Request, facts: RequestFacts, log: Logger, input: Input): Input & Call => ({
  params: input.params,
  query: input.query,
  body: input.body,
  ifMatch: input.ifMatch,
  requestId: facts.requestId,
  traceparent: facts.traceparent,
  headers: request.headers,
  respond: {
    header: (name, value) => {
      facts.headers = { ...facts.headers, [name.toLowerCase()]: value }
    },
  },
  get principal() {
    return facts.principal ?? unauthenticated()
  },
  get signal() {
    return request.signal
  },
  get log() {
    return log.child({ request_id: facts.requestId })
  },
})
