import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ApiError } from './api-error.ts'

export type LoadLimits = {
  /** Requests answered at the same time. */
  maxInFlight: number
  /** Delay of most turns of the event loop over half a second. */
  maxEventLoopDelayMs: number
}

const WINDOW_MS = 500
const RESOLUTION_MS = 20

type Window = { histogram: ReturnType<typeof monitorEventLoopDelay>; startedAt: number; delayMs: number }

/** The median, since one long turn, for garbage or because the machine was busy, is over when it is seen. */
const delayNow = (window: Window, now: number): number => {
  const { histogram, startedAt } = window
  if (now - startedAt >= WINDOW_MS && histogram.count > 1) {
    window.delayMs = histogram.percentile(50) / 1e6 - RESOLUTION_MS
    window.startedAt = now
    histogram.reset()
  }
  return window.delayMs
}

/** Counts the requests of a process and refuses new ones, before their body is read, when it cannot keep up. */
export const loadGuard = ({ maxInFlight, maxEventLoopDelayMs }: LoadLimits) => {
  let inFlight = 0
  let window: Window | null = null

  const overload = (): string | null => {
    if (inFlight >= maxInFlight) return 'in_flight'
    return window && delayNow(window, performance.now()) > maxEventLoopDelayMs ? 'event_loop' : null
  }

  return {
    get inFlight() {
      return inFlight
    },
    /** Why one more request should be refused, if it should. */
    overload,
    enter: (): void => {
      inFlight += 1
    },
    leave: (): void => {
      inFlight -= 1
    },
    /** Watches the event loop until disposed. */
    watch: (): Disposable => {
      const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      histogram.enable()
      window = { histogram, startedAt: performance.now(), delayMs: 0 }
      return {
        [Symbol.dispose]: () => {
          histogram.disable()
          window = null
        },
      }
    },
  }
}

export type LoadGuard = ReturnType<typeof loadGuard>

/** Made once: whoever is refused for want of time must not cost any. */
export const OVERLOADED = new ApiError('unavailable', 'The service is busy; try again', { retryAfterSeconds: 1 })
