import type { Logger } from './logger.ts'
import { randomHex } from './random.ts'

export type SpanKind = 'server' | 'client' | 'consumer'
/** What a span tells: names and numbers of ours, never a value that somebody sent. */
export type SpanAttributes = Readonly<Record<string, string | number>>

export type StartedSpan = {
  /** W3C trace context whose parent is this span, to pass on. */
  traceparent: string
  end: (attributes: SpanAttributes, options?: { name?: string; failed?: boolean }) => void
}

export type Tracer = AsyncDisposable & {
  /** `parent` is a W3C trace context; `null` begins a trace. One that is not sampled is passed on, not told. */
  start: (span: { name: string; kind: SpanKind; parent: string | null; startedAt?: number }) => StartedSpan
}

export type TracerOptions = {
  service: string
  /** The base URL of an OTLP/HTTP receiver; spans go to `/v1/traces` below it. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  log: Logger
  flushMs?: number
}

const KINDS = { server: 2, client: 3, consumer: 5 } as const
const STATUS_ERROR = 2
const SAMPLED = 1
/** What waits to be sent; what is more is dropped, so that a receiver that is away costs no memory. */
const MAX_QUEUED = 2048
const MAX_BATCH = 512
const SEND_TIMEOUT_MS = 5000

const attributeOf = ([key, value]: [string, string | number]) => ({
  key,
  value: typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value },
})

const attributesOf = (attributes: SpanAttributes) => Object.entries(attributes).map(attributeOf)

const nanos = (ms: number): string => String(BigInt(Math.round((performance.timeOrigin + ms) * 1000)) * 1000n)

/** Sends batches of spans as OTLP/HTTP in JSON (opentelemetry-proto 1.x), one at a time; what fails is not sent again. */
const exporter = ({ service, endpoint, headers, log }: TracerOptions) => {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const resource = { attributes: attributesOf({ 'service.name': service, 'service.namespace': 'keelson' }) }
  return async (spans: object[]): Promise<void> => {
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'keelson' }, spans }] }] })
    try {
      const signal = AbortSignal.timeout(SEND_TIMEOUT_MS)
      const type = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers: { ...headers, ...type }, body, signal })
      await response.body?.cancel()
      if (!response.ok) log.warn({ status: response.status, count: spans.length }, 'spans were refused')
    } catch (err) {
      log.warn({ err, count: spans.length }, 'spans could not be sent')
    }
  }
}

/** Tells what this process does, as spans, to an OTLP receiver. Disposing sends what is left. */
export const createTracer = (options: TracerOptions): Tracer => {
  const send = exporter(options)
  const queue: object[] = []
  let sending: Promise<void> = Promise.resolve()
  const flush = (): void => {
    if (queue.length === 0) return
    const batch = queue.splice(0, MAX_BATCH)
    sending = sending.then(() => send(batch))
  }
  const timer = setInterval(flush, options.flushMs ?? 1000)
  timer.unref()

  return {
    start: ({ name, kind, parent, startedAt = performance.now() }) => {
      const [, traceId = randomHex(16), parentSpanId = '', flags = '01'] = parent?.split('-') ?? []
      const spanId = randomHex(8)
      return {
        traceparent: `00-${traceId}-${spanId}-${flags}`,
        end: (attributes, { name: finalName = name, failed = false } = {}) => {
          if ((Number.parseInt(flags, 16) & SAMPLED) === 0 || queue.length >= MAX_QUEUED) return
          queue.push({
            traceId,
            spanId,
            parentSpanId,
            name: finalName,
            kind: KINDS[kind],
            startTimeUnixNano: nanos(startedAt),
            endTimeUnixNano: nanos(performance.now()),
            attributes: attributesOf(attributes),
            status: failed ? { code: STATUS_ERROR } : {},
          })
        },
      }
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      while (queue.length > 0) flush()
      await sending
    },
  }
}
