import { subscribe, type Database } from '@keelson/database'
import {
  AccountMismatch,
  ApiError,
  type AccountOf,
  type Authenticate,
  type HeaderReader,
  type Principal,
} from '@keelson/service-kit'
import type { FailedAttempts } from './failed-attempts.ts'
import { keyCache } from './key-cache.ts'
import { keyDigest } from './key-digest.ts'
import { keyHashes } from './key-hashes.ts'
import { keyLookup } from './key-lookup.ts'
import { lastUsed } from './last-used.ts'
import { presentedKey, type KeyHeader } from './presented-key.ts'

/** Why a caller was refused: for metrics and logs, never for the answer. */
export type Refusal = 'missing' | 'malformed' | 'unknown' | 'tampered' | 'other_account' | 'too_many_failures'

export type AuthenticatorOptions = {
  db: Pick<Database, 'sql'>
  /** What keys are hashed under, see `systemSecret`. */
  pepper: Buffer
  header: KeyHeader
  /** Limits failed attempts per address; addresses are then passed to `authenticate`. */
  failedAttempts?: Pick<FailedAttempts, 'waitSeconds' | 'record'>
  onRefused?: (refusal: Refusal) => void
  /** How often times of last use are written down. */
  lastUsedIntervalMs?: number
}

export type Authenticator = AsyncDisposable & {
  /**
   * Finds the caller behind a request's headers: at once when the key is warm.
   *
   * @param address where the request came from, for the limit on failed attempts
   * @throws ApiError `unauthenticated`, `account_mismatch`, `rate_limited`, or `unavailable` while the database is
   */
  authenticate: Authenticate
  accountOf: AccountOf
}

const CHANNEL = 'keelson_api_key'

/** Authenticates callers by API key, and stops accepting a revoked one within a second on every replica. */
export const authenticator = (options: AuthenticatorOptions): Authenticator => {
  const { db, header, failedAttempts, onRefused = () => {} } = options
  const digest = keyDigest(options.pepper)
  const hashOf = keyHashes(digest)
  const cache = keyCache(keyLookup(db, digest, () => onRefused('tampered')))
  const uses = lastUsed(db, options.lastUsedIntervalMs ?? 60_000)
  const changes = subscribe(db, {
    channel: CHANNEL,
    onNotification: (hash) => cache.forget(hash),
    onReady: () => cache.rely(true),
    onLost: () => cache.rely(false),
  })

  const refuse = (refusal: Refusal, address: string | undefined): never => {
    onRefused(refusal)
    if (refusal !== 'missing' && address !== undefined) failedAttempts?.record(address)
    throw new ApiError('unauthenticated')
  }

  const admit = (address: string | undefined): void => {
    const retryAfterSeconds = address === undefined ? 0 : (failedAttempts?.waitSeconds(address) ?? 0)
    if (retryAfterSeconds === 0) return
    onRefused('too_many_failures')
    throw new ApiError('rate_limited', 'Too many failed attempts', { retryAfterSeconds })
  }

  const find = async (token: string | null, hash: string | null, address: string | undefined): Promise<Principal> => {
    if (hash === null || cache.remembered(hash) === null) admit(address)
    if (token === null) return refuse('missing', address)
    if (hash === null) return refuse('malformed', address)
    return (await cache.find(hash))?.principal ?? refuse('unknown', address)
  }

  const accept = (principal: Principal, headers: HeaderReader): Principal => {
    const selected = headers.get('x-selected-account-id')
    if (selected !== null && selected !== principal.account_id) {
      onRefused('other_account')
      throw new AccountMismatch(principal)
    }
    uses.touch(principal)
    return principal
  }

  return {
    authenticate(headers, address) {
      const token = presentedKey(headers, header)
      const hash = token === null ? null : hashOf(token)
      const remembered = hash === null ? null : cache.peek(hash)
      if (remembered !== null) return accept(remembered.principal, headers)
      return find(token, hash, address).then((principal) => accept(principal, headers))
    },
    accountOf: (headers) =>
      cache.remembered(hashOf(presentedKey(headers, header) ?? '') ?? '')?.principal.account_id ?? null,
    async [Symbol.asyncDispose]() {
      await changes[Symbol.asyncDispose]()
      await uses[Symbol.asyncDispose]()
    },
  }
}
