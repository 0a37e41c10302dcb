import { OVERLOADED } from './load.ts'
import type { Principal } from './principal.ts'

/** A request, as far as its body's weight is concerned. */
type Bearer = { readonly principal: Principal | null; bodyBytes: number }

export type BodyBudget = {
  readonly heldBytes: number
  /** @throws ApiError `unavailable` when there is no room now; a body that is alone always has room */
  hold: (request: Bearer, bytes: number) => void
  /** Like `hold`, for what a request can do without: says whether there is room. */
  mayHold: (request: Bearer, bytes: number) => boolean
  /** Gives back all that a request holds. */
  release: (request: Bearer) => void
}

const accountOf = ({ principal }: Bearer): string => principal?.account_id ?? ''

/**
 * Bounds what the bodies of the requests in flight weigh together. An account may hold as much as is still free: alone
 * half of all, and one that floods the service leaves room for the others.
 */
export const bodyBudget = (maxBytes: number, onRefused: () => void): BodyBudget => {
  const heldBy = new Map<string, number>()
  let heldBytes = 0

  const mayHold = (request: Bearer, bytes: number): boolean => {
    const account_id = accountOf(request)
    const held = heldBy.get(account_id) ?? 0
    if (heldBytes > 0 && held + bytes > maxBytes - heldBytes) return false
    heldBy.set(account_id, held + bytes)
    heldBytes += bytes
    request.bodyBytes += bytes
    return true
  }

  return {
    get heldBytes() {
      return heldBytes
    },
    mayHold,
    hold: (request, bytes) => {
      if (mayHold(request, bytes)) return
      onRefused()
      throw OVERLOADED
    },
    release: (request) => {
      const account_id = accountOf(request)
      const left = (heldBy.get(account_id) ?? 0) - request.bodyBytes
      if (left > 0) heldBy.set(account_id, left)
      else heldBy.delete(account_id)
      heldBytes -= request.bodyBytes
      request.bodyBytes = 0
    },
  }
}
