import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as SecureAgent, request as httpsRequest } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'

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

type Answer = { status: number; retryAfterMs: number; text: string }

const PASSING: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

const problemOf = (path: string, { status, text }: Answer): KeelsonError => {
  let problem: { code?: unknown; detail?: unknown } = {}
  try {
    problem = JSON.parse(text)
  } catch {
    // Whatever stands between answered with something else.
  }
  const code = typeof problem.code === 'string' ? problem.code : 'unknown'
  const detail = typeof problem.detail === 'string' ? problem.detail : 'no details'
  return new KeelsonError(`${path}: ${status} ${code}: ${detail}`, status, code)
}

const readAnswer = (response: IncomingMessage, settle: (answer: Answer) => void): void => {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  response.on('end', () => {
    const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1000
    const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    settle({
      status: response.statusCode ?? 0,
      retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : 0,
      text: whole.toString(),
    })
  })
}

/** Makes one attempt over connections that are kept open. */
const transport = ({ baseUrl, apiKey, timeoutMs = 30_000, maxConnections = 64 }: ConnectionOptions) => {
  const base = new URL(baseUrl)
  const isSecure = base.protocol === 'https:'
  const prefix = base.pathname.replace(/\/$/, '')
  const request = isSecure ? httpsRequest : httpRequest
  const agentOptions = { keepAlive: true, maxSockets: maxConnections, maxFreeSockets: maxConnections, noDelay: true }
  const agent = isSecure ? new SecureAgent(agentOptions) : new Agent(agentOptions)
  const hostname = base.hostname.replace(/^\[|\]$/g, '')
  const target: RequestOptions = { method: 'POST', hostname, port: base.port, agent }

  const send = (path: string, body: Buffer): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'content-length': body.length,
      }
      const outgoing = request({ ...target, path: prefix + path, headers })
      const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      const fail = (error: Error) => {
        clearTimeout(timer)
        reject(error)
      }
      outgoing.on('error', fail)
      outgoing.on('response', (response) => {
        response.on('error', fail)
        readAnswer(response, (answer) => {
          clearTimeout(timer)
          resolve(answer)
        })
      })
      outgoing.end(body)
    })

  return { send, close: () => agent.destroy() }
}

const pause = (round: number, atLeastMs: number): Promise<void> =>
  delay(Math.min(LONGEST_PAUSE_MS, Math.max(atLeastMs, FIRST_PAUSE_MS * 2 ** round * (0.5 + Math.random()))))

/** Sends JSON to the service, and repeats what failed in passing. */
export const connection = ({ retries = 3, ...options }: ConnectionOptions) => {
  const { send, close } = transport(options)

  /** @throws KeelsonError for a refusal, or when no attempt was answered */
  const post = async <Result>(path: string, json: string): Promise<Result> => {
    const body = Buffer.from(json)
    for (let round = 0; ; round += 1) {
      const isLast = round >= retries
      try {
        const answer = await send(path, body)
        if (answer.status < 300) return (answer.text === '' ? undefined : JSON.parse(answer.text)) as Result
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
