import { PROBES } from './public-pages.ts'
import type { RequestFacts } from './request-facts.ts'
import type { Tracer } from './tracer.ts'

/**
 * Starts the span of a request, which from now on is the parent of all that is done for it; probes have none.
 *
 * @returns what ends it, given the status of the answer
 */
export const traceRequest = (
  tracer: Tracer | null,
  method: string,
  facts: RequestFacts,
): ((status: number) => void) | null => {
  if (!tracer || PROBES.has(facts.path)) return null
  const { startedAt } = facts
  const span = tracer.start({ name: method, kind: 'server', parent: facts.traceparent, startedAt })
  facts.traceparent = span.traceparent
  return (status) => {
    const { route, errorCode } = facts
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      ...(errorCode !== null && { 'error.type': errorCode }),
    }
    span.end(attributes, { name: `${method} ${route}`, failed: status >= 500 })
  }
}
