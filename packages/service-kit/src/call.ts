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
  /** Whether any `If-Match` was sent: then what is not there may not be made either. */
  readonly mustExist: boolean
  readonly respond: { header: (name: string, value: string) => void }
  /** Carries the request id. */
  readonly log: Logger
  /**
   * Counts bytes that the request holds in memory beside its body until it has been answered.
   * @returns whether there was room; see `bodyBudget`
   */
  mayHold: (bytes: number) => boolean
}

export type Input = { params: unknown; query: unknown; body: unknown; ifMatch: readonly string[] | null }

const unauthenticated = (): never => {
  throw new Error('this operation has no scope, so it has no principal')
}

/** A class, because getters on a prototype cost nothing, while those of an object are made with it each time. */
class OperationCall implements Input, Call {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly ifMatch: readonly string[] | null
  readonly requestId: string
  readonly traceparent: string | null
  readonly respond: Call['respond']
  private readonly request: Request
  private readonly facts: RequestFacts
  private readonly logger: Logger

  constructor(request: Request, facts: RequestFacts, logger: Logger, { params, query, body, ifMatch }: Input) {
    this.params = params
    this.query = query
    this.body = body
    this.ifMatch = ifMatch
    this.requestId = facts.requestId
    this.traceparent = facts.traceparent
    this.respond = {
      header: (name, value) => {
        facts.headers = { ...facts.headers, [name.toLowerCase()]: value }
      },
    }
    this.request = request
    this.facts = facts
    this.logger = logger
  }

  get principal(): Principal {
    return this.facts.principal ?? unauthenticated()
  }

  get mustExist(): boolean {
    return this.facts.received.get('if-match') !== null
  }

  get headers(): Headers {
    return this.request.headers
  }

  get signal(): AbortSignal {
    return this.request.signal
  }

  mayHold(bytes: number): boolean {
    return this.facts.bodies.mayHold(this.facts, bytes)
  }

  get log(): Logger {
    return this.logger.child({ request_id: this.requestId })
  }
}

/** What costs something and is rarely wanted, the signal and the logger, is made when it is read. */
export const createCall = (request: Request, facts: RequestFacts, log: Logger, input: Input): Input & Call =>
  new OperationCall(request, facts, log, input)
