import { setMaxListeners } from 'node:events'
import { VendorError } from './vendor-error.ts'

/** The time one vendor step may take. */
export type Step = {
  /** Aborts when the worker must end; the step's own time is told by `remainingMs`. */
  hurry: AbortSignal
  /**
   * Call right before every request: a worker that was frozen must not send what another one has taken over.
   *
   * @returns the milliseconds left
   * @throws VendorError when the step's time is over
   */
  remainingMs: () => number
}

const NEVER = new AbortController().signal
setMaxListeners(0, NEVER)

/**
 * Starts the clock of a vendor step. The monotonic clock runs on while a process is frozen.
 *
 * @param hurry ends the step at once
 */
export const startStep = (budgetMs: number, hurry: AbortSignal = NEVER): Step => {
  const end = performance.now() + budgetMs
  return {
    hurry,
    remainingMs: () => {
      const left = end - performance.now()
      if (left > 0) return left
      throw new VendorError('vendor_unavailable', { detail: 'the step ran out of time', retryable: true })
    },
  }
}
