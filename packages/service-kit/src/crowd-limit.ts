/** A line must be too long in two of these before it counts; a burst is over sooner. */
const WINDOW_MS = 25
/** So many are taken in any crowd: they keep a machine busy, and do not slow each other down. */
export const FEW = 4
/** So many are worked on while everybody is let in, and the others can still be refused. */
const PLACES = 32
/** A line that nobody minds while nobody is refused. */
const LINE_MS = 75
/** So many times that long it may be while it does not grow: callers who wait for their answers are no more than they are. */
const STEADY = 4
/** What nobody minds at all, however fast it usually is. */
const QUIET_MS = 5
/** Nobody refused for so long: twice as many may come. */
const CALM_MS = 100
/** Nothing to do for so much of a window: those who came were few, or came all at once. */
const IDLE_SHARE = 0.5
/** Who was refused has been told to come back after so long: if nobody was since, the crowd has gone. */
const GONE_MS = 1000
/** How far the limit moves at a time, while some are refused. */
const STEP = { least: 0.8, most: 1.05 }

export type CrowdLimits = {
  /** So many requests at a time are no crowd, whatever they do to each other. */
  least: number
  /** How many requests may be in line at a time. */
  most: number
  /** How many times longer than usual requests may take while others are refused. */
  maxSlowdown: number
}

/** What was seen since the limit was last moved. */
export const emptyWindow = (from: number, working: number) => ({
  from,
  arrivals: 0,
  refusedAt: 0,
  waitedMs: 0,
  idleMs: 0,
  done: 0,
  tookMs: 0,
  usualMs: 0,
  peak: working,
})

type Window = ReturnType<typeof emptyWindow>

/** Tells a window of something that got done. */
export const addDone = (window: Window, tookMs: number, usualMs: number): void => {
  window.done += 1
  window.tookMs += tookMs
  window.usualMs += usualMs
}

/** How fast a line moves, and how long whoever stands in it may take: as of the last answers, of which a long turn has none. */
type Pace = { eachMs: number; toleratedMs: number }

/** By how much the limit moves, so that who is let in takes as long as is tolerated. */
const stepOf = (toleratedMs: number, tookMs: number): number =>
  Math.max(STEP.least, Math.min(STEP.most, toleratedMs / tookMs))

const mean = (sum: number, count: number): number => (count > 0 ? sum / count : 0)

/** How many may be in line at a time, which each window may change, and how many of them may be worked on. */
export const crowdLimit = ({ least, most, maxSlowdown }: CrowdLimits) => {
  let limit = most
  let wasTooLong = false
  let pace: Pace | null = null
  let longest = least
  let lastCutAt = 0
  let lastRefusedAt = 0

  /** Ends the time in which everybody is let in, when the line has been too long for two windows, and long between them. */
  const watchLine = (peak: number, at: number, waitedMs: number, { eachMs, toleratedMs }: Pace): void => {
    const lineMs = waitedMs + peak * eachMs
    const ratio = lineMs / Math.max(LINE_MS, toleratedMs)
    const isTooLong = peak > least && ratio > (peak > longest ? 1 : STEADY)
    longest = peak > least ? Math.max(longest, peak) : least
    if (isTooLong && wasTooLong) {
      limit = Math.max(FEW, peak * (toleratedMs / lineMs))
      lastCutAt = lastRefusedAt = at
      wasTooLong = false
    } else wasTooLong = isTooLong || (wasTooLong && ratio > 1)
  }

  const move = (window: Window, at: number): boolean => {
    if (at - window.from < WINDOW_MS) return false
    const { from, arrivals, refusedAt, idleMs, done, tookMs, usualMs } = window
    const waitedMs = mean(window.waitedMs, arrivals)
    const toleratedMs = Math.max(QUIET_MS, maxSlowdown * mean(usualMs, done))
    lastRefusedAt = Math.max(lastRefusedAt, refusedAt)
    const isIdle = idleMs > IDLE_SHARE * (at - from)
    if (limit === most) {
      // Whoever comes after nobody was there makes another line.
      if (isIdle || idleMs > WINDOW_MS) [wasTooLong, pace] = [false, null]
      else if (done > 0) pace = { eachMs: (at - from) / done, toleratedMs }
      if (pace) watchLine(window.peak, at, waitedMs, pace)
      if (done > 0 && done < FEW) pace = null
    } else if (at - lastRefusedAt > GONE_MS) limit = most
    else if (at - lastRefusedAt > CALM_MS || isIdle) limit = Math.min(most, 2 * limit)
    else if (done > 0) limit = Math.max(FEW, limit * stepOf(toleratedMs, waitedMs + tookMs / done))
    return true
  }

  return {
    /** As it is now. */
    get value() {
      return limit
    },
    /** How many may be worked on at a time: more than keep a database busy, or what is slow by nature would wait. */
    places: (): number => Math.max(PLACES, pace ? pace.toleratedMs / pace.eachMs : 0),
    /** Whether no crowd is known. */
    get isOpen() {
      return limit === most
    },
    /** What began before says nothing about the limit. */
    get lastCutAt() {
      return lastCutAt
    },
    /** Moves the limit when the window is over, and tells whether it was. */
    move,
  }
}
