import type { Registry } from 'prom-client'
import type { Crowd } from './crowd.ts'
import type { LoadGuard } from './load.ts'
import type { Logger } from './logger.ts'
import { gauge, type Metrics } from './metrics.ts'
import type { RequestFacts } from './request-facts.ts'

type Observer = { observe: (seconds: number) => void }

/** Probes come every few seconds and say nothing when they succeed. */
const QUIET: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

const levelOf = ({ route }: RequestFacts, status: number) => {
  if (status >= 500) return status === 503 ? 'warn' : 'error'
  return QUIET.has(route) ? 'debug' : 'info'
}

const line = (method: string, facts: RequestFacts, status: number, ms: number) => ({
  method,
  route: facts.route,
  status,
  ms: Math.round(ms * 100) / 100,
  request_id: facts.requestId,
  ...(facts.principal && { account_id: facts.principal.account_id, key_id: facts.principal.key_id }),
  ...(facts.traceparent !== null && { trace_id: facts.traceparent.slice(3, 35) }),
  ...(facts.errorCode !== null && { error_code: facts.errorCode }),
  ...(facts.cause !== undefined && { err: facts.cause }),
})

const watch = (registry: Registry, load: LoadGuard, crowd: Crowd): void => {
  gauge({ registry }, 'http_requests_in_flight', 'Requests being answered now', () => load.inFlight)
  gauge({ registry }, 'http_requests_limit', 'Requests that may be worked on at a time, as it is now', crowd.limit)
}

export type RecordRequest = (method: string, facts: RequestFacts, status: number) => void

/** Writes the one line of each request and observes its duration. */
export const requestRecorder = (
  log: Logger,
  { registry, requestSeconds }: Metrics,
  load: LoadGuard,
  crowd: Crowd,
): RecordRequest => {
  watch(registry, load, crowd)
  const observers = new Map<string, Observer>()

  const observerOf = (route: string, method: string, status: number): Observer => {
    const key = `${method} ${route} ${status}`
    const known = observers.get(key)
    if (known) return known
    const observer = requestSeconds.labels({ route, method, status: String(status) })
    observers.set(key, observer)
    return observer
  }

  return (method, facts, status) => {
    const ms = performance.now() - facts.startedAt
    observerOf(facts.route, method, status).observe(ms / 1000)
    log[levelOf(facts, status)](line(method, facts, status, ms), 'request')
  }
}
