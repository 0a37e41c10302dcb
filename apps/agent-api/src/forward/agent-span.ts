import { ApiError, type Tracer } from '@keelson/service-kit'

type AgentSpan = {
  /** Makes the span the parent of what the agent does. */
  headers: { traceparent?: string }
  around: <T extends { statusCode: number }>(call: () => Promise<T>) => Promise<T>
}

const UNTRACED: AgentSpan = { headers: {}, around: (call) => call() }

/** A call of an agent as a span; without a tracer, the trace context is passed on as it came. */
export const agentSpan = (tracer: Tracer | null | undefined, parent: string | null, source: string): AgentSpan => {
  if (!tracer) return UNTRACED
  const span = tracer.start({ name: 'POST agent', kind: 'client', parent })
  return {
    headers: { traceparent: span.traceparent },
    around: async (call) => {
      try {
        const answer = await call()
        const { statusCode } = answer
        span.end({ 'keelson.source': source, 'http.response.status_code': statusCode }, { failed: statusCode >= 500 })
        return answer
      } catch (error) {
        const type = error instanceof ApiError ? error.code : 'aborted'
        span.end({ 'keelson.source': source, 'error.type': type }, { failed: true })
        throw error
      }
    },
  }
}
