type Event = { at: number; run: () => void }

/**
 * Virtual time for simulated processes. Between two events every runnable process runs until it waits, in an order that
 * depends on nothing but the program, so that a seed replays exactly.
 */
export const virtualClock = () => {
  /** Latest first, so that the next event is popped. */
  const events: Event[] = []
  let now = 0
  let runnable = 0
  const isRunning = () => runnable > 0

  /** Runs a callback at a virtual time, in milliseconds. */
  const at = (time: number, run: () => void): void => {
    let index = events.length
    while (index > 0 && events[index - 1]!.at <= time) index -= 1
    events.splice(index, 0, { at: Math.max(time, now), run })
  }

  return {
    now: () => now,
    at,
    /** Starts a process. */
    spawn: (process: () => Promise<unknown>): void => {
      runnable += 1
      const ended = () => {
        runnable -= 1
      }
      process().then(ended, ended)
    },
    /** Only inside a process. */
    sleep: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        runnable -= 1
        at(now + ms, () => {
          runnable += 1
          resolve()
        })
      }),
    /** The process that awaits this is killed: it never runs again. */
    crash: (): Promise<never> => {
      runnable -= 1
      return new Promise(() => {})
    },
    /** Plays events until none is left or the time is reached. */
    run: async (until: number): Promise<void> => {
      while (events.length > 0 && events.at(-1)!.at <= until) {
        const event = events.pop()!
        now = event.at
        event.run()
        while (isRunning()) await Promise.resolve()
      }
    },
  }
}

export type VirtualClock = ReturnType<typeof virtualClock>

/** A small seeded generator (mulberry32): from 0 up to 1. */
export const seededRandom = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
