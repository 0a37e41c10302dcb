/** How long callers must queue before it counts; a burst is over sooner. */
const WINDOW_MS = 100
/** So few at a time do not slow each other down: their times are what is usual. */
const FEW = 8
/** So many are taken whatever they do to each other. */
const LEAST = 64
const SMOOTHING = 0.02
const PROBE = 1.05

export type CrowdLimits = {
  /** How many requests may be worked on at a time. */
  most: number
  /** How many times longer than usual they may take before new ones are refused. */
  maxSlowdown: number
}

/** What was seen since the limit was last looked at. */
type Window = { from: number; refused: number; least: number; peak: number; tookMs: number; usualMs: number }

/**
 * Bounds how many requests are worked on at a time by what they do to each other. Each operation's usual time is
 * learned while there are few. Where many stand in line throughout a window and take too much longer than usual, the
 * limit becomes what Little's law allows at that speed; while some are refused it is then raised little by little, and
 * as soon as a window refuses nobody the crowd has gone and the limit with it.
 *
 * A request that waits for its caller, for an agent or for a vendor is not part of the crowd.
 */
export const crowd = ({ most, maxSlowdown }: CrowdLimits, clock = () => performance.now()) => {
  const usual = new Map<string, number>()
  let working = 0
  let limit = most
  const open = (from: number): Window => ({ from, refused: 0, least: working, peak: working, tookMs: 0, usualMs: 0 })
  let window = open(0)
  let lastCutAt = 0

  const adapt = (now: number): void => {
    const { from, refused, least, peak, tookMs, usualMs } = window
    if (now - from < WINDOW_MS) return
    const slowdown = usualMs > 0 ? tookMs / usualMs : 1
    if (least >= LEAST && slowdown > maxSlowdown) {
      limit = Math.max(LEAST, Math.min(limit, peak) * (maxSlowdown / slowdown))
      lastCutAt = now
    } else limit = refused > 0 ? Math.min(most, limit * PROBE) : most
    window = open(now)
  }

  const learn = (operation: string, ms: number, isAmongFew: boolean): void => {
    const known = usual.get(operation)
    if (known === undefined) usual.set(operation, ms)
    else if (isAmongFew) usual.set(operation, known + SMOOTHING * (ms - known))
    window.tookMs += ms
    window.usualMs += usual.get(operation) ?? ms
  }

  return {
    get working() {
      return working
    },
    /** As it is now. */
    get limit() {
      return limit
    },
    /** Whether there is room for one more. */
    admits: (): boolean => {
      adapt(clock())
      if (working < limit) return true
      window.refused += 1
      return false
    },
    /** Counts and times some work of an operation. */
    during: async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = clock()
      const isAmongFew = working < FEW
      working += 1
      window.peak = Math.max(window.peak, working)
      try {
        const result = await work()
        // What began before the limit was cut says nothing about the new one.
        if (startedAt >= lastCutAt) learn(operation, clock() - startedAt, isAmongFew && working <= FEW)
        return result
      } finally {
        working -= 1
        window.least = Math.min(window.least, working)
      }
    },
  }
}

export type Crowd = ReturnType<typeof crowd>
