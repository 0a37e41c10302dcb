import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type Dispatcher } from 'undici'

export type ConnectionOptions = {
  /** Where the service is, such as `http://127.0.0.1:8081`. */
  baseUrl: string
  apiKey: string
  /** How long one attempt may take; 30 s when left out. */
  timeoutMs?: number
  /** Attempts after the first; 3 when left out. Every operation may safely be repeated. */
  retries?: number
  /** Connections that are kept open; 64 when left out. */
  maxConnections?: number
}

/** What the service answered instead of a result, or that it could not be reached. */
export class KeelsonError extends Error {
  /** The HTTP status; `null` when there was no answer. */
  readonly status: number | null
  /** The stable code of the problem, such as `version_conflict`. */
  readonly code: string

  constructor(message: string, status: number | null, code: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'KeelsonError'
    this.status = status
    this.code = code
  }
}

type Answer = { status: number; retryAfterMs: number; body: Buffer }

const PASSING: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

const problemOf = (path: string, { status, body }: Answer): KeelsonError => {
  let problem: { code?: unknown; detail?: unknown } = {}
  try {
    problem = JSON.parse(body.toString())
  } catch {
    // Whatever stands between answered with something else.
  }
  const code = typeof problem.code === 'string' ? problem.code : 'unknown'
  const detail = typeof problem.detail === 'string' ? problem.detail : 'no details'
  return new KeelsonError(`${path}: ${status} ${code}: ${detail}`, status, code)
}

const retryAfterMs = (header: string | string[] | undefined): number => {
  const seconds = Number(header ?? 0)
  return Number.isFinite(seconds) ? seconds * 1000 : 0
}

/** Collects one answer; `settle` hears of it once, or of the failure. */
const answerHandler = (
  resolve: (answer: Answer) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler => {
  const chunks: Buffer[] = []
  const answer = { status: 0, retryAfterMs: 0 }
  return {
    onResponseStart: (_, status, headers) => {
      answer.status = status
      answer.retryAfterMs = retryAfterMs(headers['retry-after'])
    },
    onResponseData: (_, chunk) => void chunks.push(chunk),
    onResponseEnd: () => resolve({ ...answer, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) }),
    onResponseError: (_, error) => reject(error),
  }
}

/** Makes one attempt over connections that are kept open. */
const transport = ({ baseUrl, apiKey, timeoutMs = 30_000, maxConnections = 64 }: ConnectionOptions) => {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, { connections: maxConnections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }

  const send = async (path: string, body: Buffer): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    let abort = reject
    const timer = setTimeout(() => abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    pool.dispatch(
      { method: 'POST', path: prefix + path, headers, body },
      {
        onRequestStart: (controller) => {
          abort = (error) => controller.abort(error)
        },
        ...answerHandler(resolve, reject),
      },
    )
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  return { send, close: () => void pool.destroy() }
}

const pause = (round: number, atLeastMs: number): Promise<void> =>
  delay(Math.min(LONGEST_PAUSE_MS, Math.max(atLeastMs, FIRST_PAUSE_MS * 2 ** round * (0.5 + Math.random()))))

/** Sends JSON to the service, and repeats what failed in passing. */
export const connection = ({ retries = 3, ...options }: ConnectionOptions) => {
  const { send, close } = transport(options)

  /**
   * @returns the body of the answer, which is empty for some operations
   * @throws KeelsonError for a refusal, or when no attempt was answered
   */
  const post = async (path: string, body: Buffer): Promise<Buffer> => {
    for (let round = 0; ; round += 1) {
      const isLast = round >= retries
      try {
        const answer = await send(path, body)
        if (answer.status < 300) return answer.body
        if (isLast || !PASSING.has(answer.status)) throw problemOf(path, answer)
        await pause(round, answer.retryAfterMs)
      } catch (error) {
        if (error instanceof KeelsonError) throw error
        if (isLast) throw new KeelsonError(`${path}: ${(error as Error).message}`, null, 'unreachable', error)
        await pause(round, 0)
      }
    }
  }

  return { post, close }
}

export type Connection = ReturnType<typeof connection>
