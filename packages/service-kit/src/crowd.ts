import { type CrowdLimits, crowdLimit, emptyWindow, FEW } from './crowd-limit.ts'

const SMOOTHING = 0.02

export type Time = {
  now: () => number
  /** Calls back once the event loop has served what was waiting. */ turn: (done: () => void) => void
}

const REAL: Time = { now: () => performance.now(), turn: setImmediate }

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

/** What each operation takes while there are few; nothing, until that is known. */
const usualTimes = () => {
  const usual = new Map<string, { ms: number; times: number }>()
  return (operation: string, ms: number, isAmongFew: boolean): number => {
    const known = usual.get(operation) ?? { ms: 0, times: 0 }
    if (!isAmongFew) return known.ms
    known.times += 1
    known.ms += (ms - known.ms) * Math.max(SMOOTHING, 1 / known.times)
    usual.set(operation, known)
    return known.ms
  }
}

/**
 * Bounds how many requests are worked on at a time by how long they wait for each other. Each operation's usual time is
 * learned while there are few. Nobody is refused for a line that is short, soon over, or no longer than before. One that
 * grows beyond that for two windows, by what Little's law makes of how many are worked on and how many get done, means
 * that more come than can be done: then only so many are let in that they take hardly longer than usual. While nobody
 * is refused that limit doubles, and when nobody was for the time of a `Retry-After`, it is gone.
 *
 * A request that waits for its caller, for an agent or for a vendor is not part of the crowd.
 */
export const crowd = (limits: CrowdLimits, { now, turn }: Time = REAL) => {
  const usual = usualTimes()
  const waited = turnClock(turn)
  const limit = crowdLimit(limits)
  let working = 0
  let idleSince = 0
  let window = emptyWindow(0, 0)

  const addIdleTime = (at: number): void => {
    if (working === 0) window.idleMs += at - Math.max(idleSince, window.from)
    idleSince = at
  }

  return {
    /** As it is now. */
    limit: (): number => limit.value,
    /** Whether there is room for one more. */
    admits: (): boolean => {
      const at = now()
      addIdleTime(at)
      if (limit.move(window, at)) window = emptyWindow(at, working)
      window.arrivals += 1
      window.waitedMs += waited(at)
      if (working < limit.value) return true
      window.refusedAt = at
      return false
    },
    /** Counts and times some work of an operation. */
    during: async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = now()
      addIdleTime(startedAt)
      const isAmongFew = working < FEW && limit.isOpen
      working += 1
      window.peak = Math.max(window.peak, working)
      try {
        const result = await work()
        const ms = now() - startedAt
        const usualMs = usual(operation, ms, isAmongFew && working <= FEW)
        // What began before the limit was cut says nothing about the new one.
        if (startedAt >= limit.lastCutAt) {
          window.done += 1
          window.tookMs += ms
          window.usualMs += usualMs
        }
        return result
      } finally {
        working -= 1
        if (working === 0) idleSince = now()
      }
    },
  }
}

export type Crowd = ReturnType<typeof crowd>
