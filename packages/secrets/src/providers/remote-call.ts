import { setTimeout as pause } from 'node:timers/promises'
import { KeyConfigurationError, KeyProviderUnavailable } from '../errors.ts'

const ATTEMPTS = 3
const PAUSE_MS = 25

/** A service answered that it will not help. The message is ours and holds nothing it sent. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** An answer with its body parsed; `body` is `{}` where the answer was no JSON object. */
export type Answer = { status: number; headers: Headers; body: Record<string, unknown> }

export type Ask = (signal: AbortSignal) => Promise<Answer>

/** One HTTP exchange. Redirects are refused: a key service does not move. */
export const exchange = async (url: string, init: RequestInit): Promise<Answer> => {
  const response = await fetch(url, { ...init, redirect: 'error' })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: jsonObject(text) }
}

/** A parse error quotes what it read, and that may hold a key: it goes no further than this. */
export const jsonObject = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** What an object has under a name; nothing for anything else. */
export const valueAt = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined

/** The text at a path of names, or `''`. */
export const textAt = (body: unknown, ...path: readonly string[]): string => {
  const value = path.reduce(valueAt, body)
  return typeof value === 'string' ? value : ''
}

/** Errors of fetch can quote a header, and with it a token: only their code is passed on. */
const explain = (error: unknown): string => {
  if (error instanceof Refused) return error.message
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined
  return `cannot be reached (${code ?? (inner instanceof Error ? inner.name : 'unknown error')})`
}

const isBusy = ({ status }: Answer) => status >= 500 || status === 429

/**
 * Asks up to three times within one deadline, for as long as the service is away or busy. One silent attempt leaves time
 * for another.
 *
 * @param ask builds and sends the request anew, so that signatures and tokens are fresh
 * @param alsoBusy answers of this service, other than 429 and 5xx, that are worth another try
 * @throws KeyProviderUnavailable, and KeyConfigurationError from `ask`
 */
export const persist = async (
  kek_id: string,
  timeoutMs: number,
  ask: Ask,
  alsoBusy: (answer: Answer) => boolean = () => false,
): Promise<Answer> => {
  const signal = AbortSignal.timeout(timeoutMs)
  let failure = new KeyProviderUnavailable(kek_id, 'was not asked')
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
    if (attempt > 0) await pause(PAUSE_MS * 2 ** attempt)
    try {
      const answer = await ask(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs / 2)]))
      if (!isBusy(answer) && !alsoBusy(answer)) return answer
      failure = new KeyProviderUnavailable(kek_id, `answered ${answer.status}`)
    } catch (cause) {
      if (cause instanceof KeyConfigurationError) throw cause
      failure = new KeyProviderUnavailable(kek_id, signal.aborted ? `no answer in ${timeoutMs} ms` : explain(cause))
    }
  }
  throw failure
}
