import type { Scope } from '@keelson/contracts'
import { ApiError } from './api-error.ts'
import type { HeaderReader } from './request-facts.ts'

/** Who is calling, as the API key tells. */
export type Principal = {
  account_id: string
  identity_id: string
  identity_type: 'user' | 'service_account'
  key_id: string
  /** What the key may do; `null` is everything. */
  scopes: ReadonlySet<Scope> | null
}

/**
 * Finds the caller behind a request's headers, at once when the key is known.
 *
 * @param address where the request came from, for a limit on failed attempts
 * @throws ApiError `unauthenticated`, `account_mismatch` or `rate_limited`
 */
export type Authenticate = (headers: HeaderReader, address?: string) => Principal | Promise<Principal>

/**
 * Whose request this is, as far as that is known without asking anybody; what it says may be out of date, so it is for
 * turns and not for access.
 */
export type AccountOf = (headers: HeaderReader) => string | null

/** A known caller asks for another account than its own. */
export class AccountMismatch extends ApiError {
  readonly principal: Principal

  constructor(principal: Principal) {
    super('account_mismatch')
    this.principal = principal
  }
}
