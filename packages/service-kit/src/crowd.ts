import { addDone, type CrowdLimits, crowdLimit, emptyWindow, FEW } from './crowd-limit.ts'
import { createLine } from './line.ts'

const SMOOTHING = 0.02
/** What usually takes longer mostly waits for something else, and must not hold up what takes no time. */
const SLOW_MS = 25

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
  return {
    of: (operation: string): number => usual.get(operation)?.ms ?? 0,
    learn: (operation: string, ms: number): void => {
      const known = usual.get(operation) ?? { ms: 0, times: 0 }
      known.times += 1
      known.ms += (ms - known.ms) * Math.max(SMOOTHING, 1 / known.times)
      usual.set(operation, known)
    },
  }
}

/**
 * Bounds how many requests are in line, worked on or not, by how long they wait for each other. Each operation's usual time is
 * learned while there are few. Nobody is refused for a line that is short, soon over, or no longer than before. One that
 * grows beyond that for two windows, by what Little's law makes of its length and of how many get done, means that more
 * come than can be done: from then on only so many are let in that they take hardly longer than usual, and whoever is in
 * line but not worked on yet is refused too. While nobody is refused that limit doubles, and when nobody was for the time
 * of a `Retry-After`, it is gone.
 *
 * A request that waits for its caller, for an agent or for a vendor is not part of the crowd.
 */
export const crowd = (limits: CrowdLimits, onRefused: () => void, { now, turn }: Time = REAL) => {
  const usual = usualTimes()
  const waited = turnClock(turn)
  const limit = crowdLimit(limits)
  const line = createLine(limit.places, onRefused)
  let idleSince = 0
  let window = emptyWindow(0, 0)

  const addIdleTime = (at: number): void => {
    if (line.length === 0) window.idleMs += at - Math.max(idleSince, window.from)
    idleSince = at
  }

  return {
    /** As it is now. */
    limit: (): number => limit.value,
    /**
     * Whether there is room for one more: for whoever comes, or for one whose account has less than its share.
     *
     * @param accountOf asked when there is no room for whoever comes
     */
    admits: (accountOf: () => string | null = () => null): boolean => {
      const at = now()
      addIdleTime(at)
      if (limit.move(window, at)) {
        line.cut(limit.value)
        window = emptyWindow(at, line.length)
      }
      window.arrivals += 1
      window.waitedMs += waited(at)
      if (line.length < limit.value || line.isOwed(accountOf(), limit.value)) return true
      window.refusedAt = at
      return false
    },
    /**
     * Does some work of an operation when its turn has come, counts and times it.
     *
     * @throws ApiError `unavailable` when too many turned out to be in line
     */
    during: async <T>(operation: string, account_id: string, work: () => Promise<T>): Promise<T> => {
      const startedAt = now()
      addIdleTime(startedAt)
      const isAmongFew = line.length < FEW && limit.isOpen
      const working = usual.of(operation) > SLOW_MS ? line.atOnce(account_id, work) : line.inTurn(account_id, work)
      window.peak = Math.max(window.peak, line.length)
      try {
        const result = await working
        const ms = now() - startedAt
        if (isAmongFew && line.length < FEW) usual.learn(operation, ms)
        // What began before the limit was cut says nothing about the new one.
        if (startedAt >= limit.lastCutAt) addDone(window, ms, usual.of(operation))
        return result
      } finally {
        if (line.length === 0) idleSince = now()
      }
    },
  }
}

export type Crowd = ReturnType<typeof crowd>
