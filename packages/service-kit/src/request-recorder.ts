import { Gauge, type Registry } from 'prom-client'
import type { LoadGuard } from './load.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
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

const watchInFlight = (registry: Registry, load: LoadGuard): Gauge =>
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests being answered now',
    registers: [registry],
    collect() {
      this.set(load.inFlight)
    },
  })

/** Writes the one line of each request and observes its duration. */
export const requestRecorder = (log: Logger, { registry, requestSeconds }: Metrics, load: LoadGuard) => {
  watchInFlight(registry, load)
  const observers = new Map<string, Observer>()

  const observerOf = (route: string, method: string, status: number): Observer => {
    const key = `${method} ${route} ${status}`
    const known = observers.get(key)
    if (known) return known
    const observer = requestSeconds.labels({ route, method, status: String(status) })
    observers.set(key, observer)
    return observer
  }

  return (method: string, facts: RequestFacts, status: number): void => {
    const ms = performance.now() - facts.startedAt
    observerOf(facts.route, method, status).observe(ms / 1000)
    log[levelOf(facts, status)](line(method, facts, status, ms), 'request')
  }
}
