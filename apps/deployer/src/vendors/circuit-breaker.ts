export type CircuitBreakerOptions = {
  /** Failures in a row after which the vendor is left alone. */
  failures: number
  /** For how long. */
  openMs: number
  now?: () => number
}

/**
 * Leaves a vendor alone that does not answer: after some failures in a row every call is refused for a while, then one
 * is let through, and its outcome decides. Only a vendor that cannot answer counts, not one that says no.
 */
export const circuitBreaker = ({ failures, openMs, now = () => performance.now() }: CircuitBreakerOptions) => {
  let inARow = 0
  let openUntil = 0
  let probing = false
  return {
    /** 0 when a call may be made, else for how many milliseconds none may. */
    refusedForMs: (): number => {
      if (inARow < failures) return 0
      if (now() < openUntil) return openUntil - now()
      if (probing) return openMs
      probing = true
      return 0
    },
    succeeded: (): void => {
      inARow = 0
      probing = false
    },
    failed: (): void => {
      inARow += 1
      probing = false
      if (inARow >= failures) openUntil = now() + openMs
    },
    isOpen: (): boolean => inARow >= failures,
  }
}

export type CircuitBreaker = ReturnType<typeof circuitBreaker>
