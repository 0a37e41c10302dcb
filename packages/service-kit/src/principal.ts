import type { Scope } from '@keelson/contracts'

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
 * Finds the caller behind a request's headers.
 *
 * @throws ApiError `unauthenticated` or `account_mismatch`
 */
export type Authenticate = (headers: Headers) => Promise<Principal>
