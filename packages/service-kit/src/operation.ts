import {
  type ErrorCode,
  isConditional,
  isRepeatable,
  JsonBytes,
  type Route,
  type RouteInput,
  type RouteOutput,
  type Scope,
  writeJson,
} from '@keelson/contracts'
import { emptyResponse, jsonResponse, notModifiedResponse } from './answer.ts'
import { ApiError } from './api-error.ts'
import { type Call, createCall } from './call.ts'
import { clientAddress } from './client-address.ts'
import { ifMatch, isKnownTo, preconditionFailed } from './entity-tag.ts'
import { fingerprintOf, idempotencyKey, type IdempotencyStore, once, type StoredAnswer } from './idempotency.ts'
import type { Logger } from './logger.ts'
import { AccountMismatch, type Authenticate, type Principal } from './principal.ts'
import type { RequestFacts } from './request-facts.ts'
import { inputReader } from './request-input.ts'
import { withPatience } from './patience.ts'

type Output<R extends Route> = RouteOutput<R> | JsonBytes

export type Handler<R extends Route> = (input: RouteInput<R> & Call) => Promise<Output<R>> | Output<R>

export type HandleOptions<R extends Route = Route> = {
  /** The answer holds a secret: it is never stored for an `Idempotency-Key`. */
  secretAnswer?: boolean
  /** How long a call may wait on purpose, for something to happen (default 0). */
  waitsMs?: (input: RouteInput<R>) => number
  /** Told of a known caller who does not get as far as the handler, before that is answered; for operations that must leave a trace. */
  onRefused?: (refused: Refused<R>) => Promise<void>
}

/** A request that was refused with `code`; what it asked for is `null` when that cannot be. */
export type Refused<R extends Route = Route> = Pick<Call, 'principal' | 'requestId'> & {
  params: RouteInput<R>['params'] | null
  code: ErrorCode
}

/** What an operation needs of its service. */
export type OperationContext = {
  log: Logger
  authenticate: Authenticate
  proxyHops: number
  limitRate: (key: string, facts: RequestFacts) => void
  patienceMs: number
  bodyLimit: (operationId: string, otherwise: number) => number
  idempotency: IdempotencyStore | undefined
}

type Answer = { status: number; body: string | Uint8Array<ArrayBuffer> }

const respond = (facts: RequestFacts, { status, body }: Answer, headers = facts.headers): Response =>
  status === 204 ? emptyResponse(facts, headers) : jsonResponse(facts, status, body, headers)

/** What `If-Match` asks of an operation; an object without an entity tag has none that could be listed. */
const preconditionOf = ({ method, entityTag }: Route, { received }: RequestFacts): readonly string[] | null => {
  const wanted = isConditional(method) ? ifMatch(received) : null
  return wanted !== null && !entityTag ? preconditionFailed() : wanted
}

/** What an `Idempotency-Key` keeps of an answer. */
const storable = async (work: () => Promise<Answer>): Promise<StoredAnswer> => {
  const { status, body } = await work()
  return { status, body: typeof body === 'string' ? body : Buffer.from(body).toString() }
}

/** Finding a caller is one look at one row; until it is found nothing of the request is read. */
const ADMISSION_MS = 5_000

/** Finds out who calls and what is asked. */
const receiver = <R extends Route>(route: R, context: OperationContext) => {
  const { authenticate, bodyLimit, idempotency, limitRate, patienceMs, proxyHops } = context
  const read = inputReader(route, bodyLimit(route.operationId, route.bodyLimitBytes))

  const identify = (facts: RequestFacts): Principal | Promise<Principal> => {
    const caller = authenticate(facts.received, clientAddress(facts.incoming, proxyHops))
    return caller instanceof Promise ? withPatience(Math.min(patienceMs, ADMISSION_MS), facts, caller) : caller
  }

  const admit = (principal: Principal, facts: RequestFacts, scope: Scope): void => {
    facts.principal = principal
    limitRate(principal.key_id, facts)
    const { scopes } = principal
    if (scopes !== null && !scopes.has(scope)) throw new ApiError('missing_scope', `The key lacks the scope ${scope}`)
  }

  /** Apart, so that the bytes of a body are not kept for as long as its request waits. */
  const receive = async (request: Request, facts: RequestFacts) => {
    if (route.scope !== null) admit(await identify(facts), facts, route.scope)
    const params = read.params(facts)
    const query = read.query(facts)
    const key = idempotency && isRepeatable(route.method) ? idempotencyKey(facts.received) : null
    const bytes = await read.body.bytes(request, facts)
    const body = read.body.parse(bytes)
    const fingerprint = key === null ? null : fingerprintOf(`${facts.path}?${facts.query}`, bytes)
    return { key, fingerprint, input: { params, query, body, ifMatch: preconditionOf(route, facts) } }
  }

  const paramsOf = (facts: RequestFacts): Refused<R>['params'] => {
    try {
      return read.params(facts) as RouteInput<R>['params']
    } catch {
      return null
    }
  }

  return { receive, paramsOf }
}

/** Strangers are one account among others. */
const accountIn = ({ principal }: RequestFacts): string => principal?.account_id ?? ''

/** A mounted operation: who, where, what, then the handler, then the answer. */
export const operation = <R extends Route>(
  route: R,
  handler: Handler<R>,
  { secretAnswer = false, waitsMs, onRefused }: HandleOptions<R>,
  context: OperationContext,
) => {
  const { log, idempotency, patienceMs } = context
  const { receive, paramsOf } = receiver(route, context)
  const run = async (call: Parameters<Handler<R>>[0]): Promise<Answer> => {
    const result: unknown = await handler(call)
    if (result instanceof JsonBytes) return { status: 200, body: result.bytes as Uint8Array<ArrayBuffer> }
    return route.schemas.ok ? { status: 200, body: writeJson(result ?? null) } : { status: 204, body: '' }
  }

  const refuse = async (error: unknown, facts: RequestFacts): Promise<never> => {
    const { requestId } = facts
    const principal = error instanceof AccountMismatch ? error.principal : facts.principal
    if (onRefused && principal && error instanceof ApiError) {
      const told = onRefused({ params: paramsOf(facts), principal, requestId, code: error.code })
      await withPatience(patienceMs, facts, told)
    }
    throw error
  }

  return async (request: Request, facts: RequestFacts): Promise<Response> => {
    const { key, fingerprint, input } = await receive(request, facts).catch((error: unknown) => refuse(error, facts))
    const call = createCall(request, facts, log, input) as Parameters<Handler<R>>[0]
    const waitMs = waitsMs?.(call) ?? 0
    // Who waits on purpose is no sign that there are too many.
    const work = () =>
      waitMs > 0 ? run(call) : facts.crowd.during(route.operationId, accountIn(facts), () => run(call))
    if (!idempotency || key === null || fingerprint === null || !facts.principal) {
      const answer = await withPatience(patienceMs + waitMs, facts, work())
      const isKnown = route.method === 'get' && isKnownTo(facts.received, facts.headers?.['etag'])
      return isKnown ? notModifiedResponse(facts) : respond(facts, answer)
    }

    const attempt = { account_id: facts.principal.account_id, operation: route.operationId, key, fingerprint }
    // Whoever is asked to come back must be let in again.
    const keep = () => !secretAnswer && facts.headers?.['retry-after'] === undefined
    let isHandled = false
    const worked = once(idempotency, attempt, { keep, log }, () => {
      isHandled = true
      return storable(work)
    })
    const { replayed, ...answer } = await withPatience(patienceMs + waitMs, facts, worked).catch((error: unknown) => {
      if (isHandled) throw error
      return refuse(error, facts)
    })
    return respond(facts, answer, { ...facts.headers, ...(replayed && { 'idempotency-replayed': 'true' }) })
  }
}
