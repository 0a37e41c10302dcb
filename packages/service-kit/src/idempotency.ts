import { createHash } from 'node:crypto'
import { ApiError } from './api-error.ts'
import type { Logger } from './logger.ts'
import type { HeaderReader } from './request-facts.ts'

/** One attempt to do something once: the same key of the same account on the same operation. */
export type IdempotentRequest = {
  account_id: string
  /** The operationId. */
  operation: string
  key: string
  /** SHA-256 of path, query and body, in hex. */
  fingerprint: string
}

export type StoredAnswer = { status: number; body: string }

/** What became of earlier requests of this key. */
export type IdempotencyState =
  | { outcome: 'go' }
  | { outcome: 'replay'; answer: StoredAnswer }
  | { outcome: 'conflict' }
  | { outcome: 'reused' }

/** Where the answers to requests with an `Idempotency-Key` are kept. */
export type IdempotencyStore = {
  begin: (request: IdempotentRequest) => Promise<IdempotencyState>
  /** Ends what `begin` let through: stores the answer, or with `null` forgets the attempt, so that it may be repeated. */
  finish: (request: IdempotentRequest, answer: StoredAnswer | null) => Promise<void>
}

const KEY = /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x2b\x2d-\x7e]{1,255}))$/

/**
 * The key of a request, quoted as the IETF draft has it or bare as most clients send it; `null` without one.
 *
 * @throws ApiError `malformed_request` for an empty, too long or repeated one
 */
export const idempotencyKey = (headers: HeaderReader): string | null => {
  const header = headers.get('idempotency-key')
  if (header === null) return null
  const [, quoted, bare] = KEY.exec(header) ?? []
  const key = quoted ?? bare
  if (key === undefined)
    throw new ApiError('malformed_request', 'The Idempotency-Key must be 1 to 255 visible characters')
  return key
}

export const fingerprintOf = (target: string, body: Uint8Array): string =>
  createHash('sha256').update(target).update('\n').update(body).digest('hex')

const lookUp = async (store: IdempotencyStore, request: IdempotentRequest): Promise<StoredAnswer | null> => {
  const state = await store.begin(request)
  if (state.outcome === 'conflict') throw new ApiError('request_in_progress')
  if (state.outcome === 'reused') {
    throw new ApiError('idempotency_key_reused', 'The Idempotency-Key was used with another request')
  }
  return state.outcome === 'replay' ? state.answer : null
}

/**
 * Does something once.
 *
 * @param act answers the request; what it throws is not stored, so a repetition tries again
 * @param keep whether the answer, once it is there, may be stored: one that holds a secret may not
 * @throws ApiError `request_in_progress`, `idempotency_key_reused`, and what `act` throws
 */
export const once = async (
  store: IdempotencyStore,
  request: IdempotentRequest,
  { keep, log }: { keep: () => boolean; log: Logger },
  act: () => Promise<StoredAnswer>,
): Promise<StoredAnswer & { replayed: boolean }> => {
  const stored = await lookUp(store, request)
  if (stored) return { ...stored, replayed: true }
  // The work is done or undone by now: a store that fails must not change what the caller is told.
  const finish = (answer: StoredAnswer | null) =>
    store.finish(request, answer).catch((err: unknown) => log.warn({ err }, 'an idempotency key was left in progress'))
  const answer = await act().catch(async (error: unknown) => {
    await finish(null)
    throw error
  })
  await finish(keep() ? answer : null)
  return { ...answer, replayed: false }
}
