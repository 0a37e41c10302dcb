import { setTimeout as delay } from 'node:timers/promises'
import type { Tracer } from '@keelson/service-kit'
import { Agent, request, type Dispatcher } from 'undici'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { limited } from './limited.ts'
import { places } from './places.ts'
import type { Step } from './step.ts'
import { VendorError } from './vendor-error.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type Call = {
  /** For metrics: `find`, `create`. */
  operation: string
  method: Method
  /** Below the base URL, already encoded. */
  path: string
  body?: unknown
  traceparent: string | null
}

export type Answer = {
  status: number
  /** `undefined` when the body is not JSON. */
  body: unknown
  retryAfterMs: number
}

export type VendorHttpOptions = {
  baseUrl: string
  apiKey: string
  /** Requests at a time. */
  concurrency: number
  requestTimeoutMs: number
  breaker: CircuitBreaker
  /** @param outcome a status class such as `2xx`, `no_answer`, or `not_sent` */
  onRequest: (operation: string, outcome: string, seconds: number) => void
  /** Told of every request as a span, with the name of the vendor. */
  tracer?: Tracer | null
  vendor?: string
}

export type VendorHttp = AsyncDisposable & {
  /** @throws VendorError when no answer came */
  call: (call: Call, step: Step) => Promise<Answer>
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_RETRY_AFTER_MS = 300_000
const TRIES = 3
const RETRY_MS = 150
/** Codes of failures before anything was sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const retryAfterMs = (value: string | string[] | undefined): number => {
  const seconds = Number(typeof value === 'string' ? value : 0)
  return seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : 0
}

const readBody = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

const noAnswer = (error: unknown, isWrite: boolean): VendorError => {
  const code = codeOf(error)
  const inTime = code.includes('TIMEOUT') || (error instanceof Error && error.name === 'TimeoutError') ? ' in time' : ''
  const uncertain = isWrite && !NOT_SENT.has(code)
  return new VendorError('vendor_unavailable', {
    detail: `no answer${inTime}`,
    retryable: true,
    uncertain,
    cause: error,
  })
}

const isDown = (status: number): boolean => status === 502 || status === 503 || status === 504

/** Looks at the time in the moment of sending: a worker may have been frozen since, while the connection was made. */
const onlyInTime =
  (step: Step): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const start = handler.onRequestStart?.bind(handler)
    handler.onRequestStart = (controller, context) => {
      step.remainingMs()
      start?.(controller, context)
    }
    return dispatch(options, handler)
  }

type Sender = (call: Call, step: Step) => Promise<Answer>

/** One request, once: with a timeout, and through the circuit breaker. */
const sender = (dispatcher: Agent, { baseUrl, apiKey, requestTimeoutMs, breaker }: VendorHttpOptions): Sender => {
  const root = baseUrl.replace(/\/+$/, '')
  const authorization = `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`
  const exchange = async (call: Call, step: Step, signal: AbortSignal): Promise<Answer> => {
    const { method, path, body, traceparent } = call
    const { statusCode, headers, ...response } = await request(`${root}${path}`, {
      method,
      dispatcher: dispatcher.compose(onlyInTime(step)),
      signal,
      headers: {
        accept: 'application/json',
        authorization,
        'user-agent': 'keelson-deployer',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(traceparent !== null && { traceparent }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const parsed = await readBody(response.body)
    return { status: statusCode, body: parsed, retryAfterMs: retryAfterMs(headers['retry-after']) }
  }
  return async (call, step) => {
    const timeoutMs = Math.ceil(Math.min(requestTimeoutMs, step.remainingMs()))
    const refusedForMs = breaker.refusedForMs()
    if (refusedForMs > 0) {
      const detail = 'it has not been answering'
      throw new VendorError('vendor_unavailable', { detail, retryable: true, retryAfterMs: refusedForMs })
    }
    try {
      const answer = await limited(timeoutMs, step.hurry, (signal) => exchange(call, step, signal))
      if (isDown(answer.status)) breaker.failed()
      else breaker.succeeded()
      return answer
    } catch (error) {
      if (error instanceof VendorError) throw error
      breaker.failed()
      throw noAnswer(error, call.method !== 'GET')
    }
  }
}

const observed =
  (send: Sender, { onRequest, tracer, vendor = '' }: VendorHttpOptions): Sender =>
  async (call, step) => {
    const started = performance.now()
    const { method, operation } = call
    const span = tracer?.start({ name: `${method} ${vendor}`, kind: 'client', parent: call.traceparent })
    const tell = (outcome: string) => {
      onRequest(operation, outcome, (performance.now() - started) / 1000)
      const attributes = { 'http.request.method': method, 'keelson.vendor': vendor, 'keelson.operation': operation }
      span?.end({ ...attributes, 'keelson.outcome': outcome }, { failed: !/^[1-4]xx$/.test(outcome) })
    }
    try {
      const answer = await send({ ...call, traceparent: span?.traceparent ?? call.traceparent }, step)
      tell(`${Math.floor(answer.status / 100)}xx`)
      return answer
    } catch (error) {
      tell(error instanceof VendorError && error.cause === undefined ? 'not_sent' : 'no_answer')
      throw error
    }
  }

/** Whether the same request may be sent again at once: a read, or a write that was certainly not sent. */
const worthRepeating = (result: Answer | VendorError, { method }: Call): boolean => {
  if (result instanceof VendorError) return result.cause !== undefined && !result.uncertain
  return method === 'GET' && isDown(result.status) && result.retryAfterMs === 0
}

/** Talks to one vendor: timeouts, a limit on concurrency, a circuit breaker, and a few quick retries of reads. */
export const vendorHttp = (options: VendorHttpOptions): VendorHttp => {
  const { concurrency, requestTimeoutMs } = options
  const connect = { timeout: Math.min(requestTimeoutMs, 5_000) }
  const dispatcher = new Agent({ connections: concurrency, pipelining: 1, connect })
  const inPlace = places(concurrency)
  const send = observed(sender(dispatcher, options), options)

  const attempt = async (call: Call, step: Step): Promise<Answer | VendorError> => {
    try {
      return await inPlace(step, () => send(call, step))
    } catch (error) {
      if (error instanceof VendorError) return error
      throw error
    }
  }

  return {
    call: async (call, step) => {
      let result = await attempt(call, step)
      for (let tries = 1; tries < TRIES && worthRepeating(result, call); tries += 1) {
        await delay((0.5 + Math.random()) * RETRY_MS * tries)
        result = await attempt(call, step)
      }
      if (result instanceof VendorError) throw result
      return result
    },
    [Symbol.asyncDispose]: () => dispatcher.close(),
  }
}
