/** A line must stand for two of these before it counts; a burst is over sooner. */
const WINDOW_MS = 100
/** So few at a time do not slow each other down: their times are what is usual. */
const FEW = 8
/** What nobody minds, however fast it usually is. */
const QUIET_MS = 5
const SMOOTHING = 0.02
const PROBE = 1.05

export type CrowdLimits = {
  /** So many requests at a time are never too many, whatever they do to each other. */
  least: number
  /** How many requests may be worked on at a time. */
  most: number
  /** How many times longer than usual they may take before new ones are refused. */
  maxSlowdown: number
}

export type Time = {
  now: () => number
  /** Calls back once the event loop has served what was waiting. */ turn: (done: () => void) => void
}

const REAL: Time = { now: () => performance.now(), turn: setImmediate }

/** What was seen since the limit was last looked at. */
const emptyWindow = (from: number, working: number) => ({
  from,
  arrivals: 0,
  refused: 0,
  waitedMs: 0,
  done: 0,
  tookMs: 0,
  usualMs: 0,
  peak: working,
})

const mean = (sum: number, count: number): number => (count > 0 ? sum / count : 0)

/** Tells how long what arrives now has been waiting at least: since the event loop began to serve what it found. */
const turnClock = (turn: Time['turn']) => {
  let from: number | null = null
  return (at: number): number => {
    if (from !== null) return at - from
    from = at
    turn(() => {
      from = null
    })
    return 0
  }
}

/** What each operation takes while there are few; what it takes now, until that is known. */
const usualTimes = () => {
  const usual = new Map<string, { ms: number; times: number }>()
  return (operation: string, ms: number, isAmongFew: boolean): number => {
    const known = usual.get(operation) ?? { ms, times: 0 }
    if (!isAmongFew) return known.ms
    known.times += 1
    known.ms += (ms - known.ms) * Math.max(SMOOTHING, 1 / known.times)
    usual.set(operation, known)
    return known.ms
  }
}

/**
 * Bounds how many requests are worked on at a time by what they do to each other. Each operation's usual time is
 * learned while there are few. Where requests, and the event loop before them, take too much longer than usual for two
 * windows, the limit becomes what Little's law allows at that speed. While some are refused it is then raised little by
 * little, and as soon as a window refuses nobody the crowd has gone and the limit with it.
 *
 * A request that waits for its caller, for an agent or for a vendor is not part of the crowd.
 */
export const crowd = ({ least, most, maxSlowdown }: CrowdLimits, { now, turn }: Time = REAL) => {
  const usual = usualTimes()
  const waited = turnClock(turn)
  let working = 0
  let limit = most
  let wasSlow = false
  let lastCutAt = 0
  let window = emptyWindow(0, 0)

  const adapt = (at: number): void => {
    const { from, arrivals, refused, waitedMs, done, tookMs, usualMs, peak } = window
    if (at - from < WINDOW_MS) return
    const takesMs = mean(waitedMs, arrivals) + mean(tookMs, done)
    const toleratedMs = Math.max(QUIET_MS, maxSlowdown * mean(usualMs, done))
    const isSlow = done > 0 && takesMs > toleratedMs
    if (isSlow && wasSlow) {
      limit = Math.max(least, Math.min(limit, peak) * (toleratedMs / takesMs))
      lastCutAt = at
    }
    if (!isSlow) limit = refused > 0 ? Math.min(most, limit * PROBE) : most
    wasSlow = isSlow
    window = emptyWindow(at, working)
  }

  return {
    /** As it is now. */
    limit: (): number => limit,
    /** Whether there is room for one more. */
    admits: (): boolean => {
      const at = now()
      adapt(at)
      window.arrivals += 1
      window.waitedMs += waited(at)
      if (working < limit) return true
      window.refused += 1
      return false
    },
    /** Counts and times some work of an operation. */
    during: async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = now()
      const isAmongFew = working < FEW && window.refused === 0
      working += 1
      window.peak = Math.max(window.peak, working)
      try {
        const result = await work()
        const ms = now() - startedAt
        const usualMs = usual(operation, ms, isAmongFew && working <= FEW)
        // What began before the limit was cut says nothing about the new one.
        if (startedAt >= lastCutAt) {
          window.done += 1
          window.tookMs += ms
          window.usualMs += usualMs
        }
        return result
      } finally {
        working -= 1
      }
    },
  }
}

export type Crowd = ReturnType<typeof crowd>
