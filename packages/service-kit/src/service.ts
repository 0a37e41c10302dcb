import { emptyResponse, problemResponse } from './answer.ts'
import { ApiError } from './api-error.ts'
import { bodyBudget } from './body-budget.ts'
import { crowd as createCrowd } from './crowd.ts'
import { type Doorkeeper, doorkeeper } from './door.ts'
import { type LoadGuard, loadGuard } from './load.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { toApiError } from './problems.ts'
import { traceRequest } from './trace-request.ts'
import { publicPages } from './public-pages.ts'
import { rateLimiter } from './rate-limit.ts'
import { type Connection, headInMemory, headOf, type RequestFacts, requestFacts } from './request-facts.ts'
import { checkHead } from './request-head.ts'
import { requestRecorder } from './request-recorder.ts'
import { type RouteTable, routeTable } from './route-table.ts'
import { allowedMethods, type Router } from './routing.ts'
import { CHALLENGES, DEFAULT_LIMITS, type ServiceOptions } from './service-options.ts'

/** An HTTP service: operations of the contract, raw routes, and the public pages every service has. */
export type Service = RouteTable & {
  readonly log: Logger
  readonly metrics: Metrics
  readonly load: LoadGuard
  /** What the body of an operation may weigh here; `otherwise` unless operators set something else. */
  bodyLimit: (operationId: string, otherwise: number) => number
  fetch: (request: Request, connection?: Connection) => Promise<Response>
  /** Answers a request for which there is no time, and tells whether it did; to be asked before anything else is done for it. */
  turnAway: Doorkeeper
  /** From now on not ready, and every answer closes its connection. */
  drain: () => void
}

/** Answers what no route does: OPTIONS, a wrong method, an unknown path. */
const unmatched = (router: Router, method: string, facts: RequestFacts): Response => {
  const allow = allowedMethods(router, facts.path).join(', ')
  if (allow === '') throw new ApiError('unknown_path')
  if (method === 'OPTIONS') return emptyResponse(facts, { allow })
  throw new ApiError('method_not_allowed', `The path has the methods ${allow}`, { headers: { allow } })
}

/** Makes the answer to a request: by its route, or a problem. Never throws. */
const answerer = (options: ServiceOptions, table: ReturnType<typeof routeTable>) => {
  const { name, isTransient = () => false } = options

  const fail = (thrown: unknown, facts: RequestFacts): Response => {
    // Work that was given up because nobody waits for it any more is no failure.
    const isGone = facts.outgoing?.destroyed && !(thrown instanceof ApiError)
    const error = isGone ? new ApiError('malformed_request', 'The client went away') : toApiError(thrown, isTransient)
    return problemResponse(facts, error, CHALLENGES[name])
  }

  let router: Router | null = null
  const open = (): Router => {
    const opened = table.router()
    opened.onError((error, c) => fail(error, c.env))
    opened.notFound((c) => unmatched(opened, c.req.method, c.env))
    return opened
  }

  return async (request: Request, facts: RequestFacts): Promise<Response> => {
    try {
      if (facts.incoming) checkHead(facts.incoming)
      router ??= open()
      return await router.fetch(request, facts)
    } catch (thrown) {
      // By then a body that came together with its head has been read.
      await Promise.resolve()
      return fail(thrown, facts)
    }
  }
}

/** Creates a service without any operation; everything it needs is an argument, and nothing listens yet. */
export const createService = (options: ServiceOptions): Service => {
  const { log, metrics, authenticate, accountOf = () => null, idempotency, proxyHops = 0, tracer = null } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const { crowdSize, maxInFlight, maxSlowdown, maxBodyBytes, patienceMs } = limits
  const limitRate = rateLimiter(limits.rate)
  const bodyLimit: Service['bodyLimit'] = (operationId, otherwise) => limits.bodyBytes[operationId] ?? otherwise
  const table = routeTable({ log, authenticate, proxyHops, limitRate, patienceMs, bodyLimit, idempotency })
  const load = loadGuard(limits)
  const countShed = (reason: string) => () => metrics.shed.inc({ reason })
  const crowd = createCrowd({ least: crowdSize, most: maxInFlight, maxSlowdown }, countShed('crowd'))
  const bodies = bodyBudget(maxBodyBytes, countShed('body_bytes'))
  const answer = answerer(options, table)
  const record = requestRecorder(log, metrics, load, crowd)
  let isDraining = false
  for (const page of publicPages(options, table.operationIds, () => isDraining)) table.mount(page)

  return {
    log,
    metrics,
    load,
    handle: table.handle,
    raw: table.raw,
    bodyLimit,
    turnAway: doorkeeper({ load, crowd, bodies, metrics, record, accountOf, isDraining: () => isDraining }),
    fetch: async (request, connection = {}) => {
      const { outgoing } = connection
      const head = connection.incoming ? headOf(connection.incoming) : headInMemory(request)
      const facts = requestFacts(head, connection, { bodies, crowd })
      const endTrace = traceRequest(tracer, request.method, facts)
      // In flight until its work has ended and its answer has gone out: whose client left still costs what it costs.
      let pending = outgoing ? 2 : 1
      const leave = (): void => {
        pending -= 1
        if (pending > 0) return
        load.leave()
        bodies.release(facts)
      }
      load.enter()
      outgoing?.once('close', leave)
      const response = await answer(request, facts)
      if (facts.unfinished) facts.unfinished.then(leave, leave)
      else leave()
      if (facts.lingers) {
        outgoing?.off('close', leave)
        leave()
      }
      if (isDraining && outgoing && !outgoing.headersSent) outgoing.setHeader('connection', 'close')
      endTrace?.(response.status)
      record(request.method, facts, response.status)
      return response
    },
    drain: () => {
      isDraining = true
    },
  }
}
