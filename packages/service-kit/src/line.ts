import { OVERLOADED } from './load.ts'

/** Lets some be worked on at a time; whoever comes then waits for a turn, first come, first served. */
export const createLine = (places: () => number, onRefused: () => void) => {
  let begun = 0
  let beside = 0
  const waiting: PromiseWithResolvers<void>[] = []
  const length = (): number => begun + beside + waiting.length

  const endTurn = (): void => {
    begun -= 1
    while (begun < places() && waiting.length > 0) {
      begun += 1
      waiting.shift()?.resolve()
    }
  }

  return {
    /** Those who are worked on, and those who wait. */
    get length() {
      return length()
    },
    /**
     * Does some work when its turn has come.
     *
     * @throws ApiError `unavailable` when the line was cut before
     */
    inTurn: async <T>(work: () => Promise<T>): Promise<T> => {
      if (waiting.length === 0 && begun < places()) begun += 1
      else {
        const turn = Promise.withResolvers<void>()
        waiting.push(turn)
        await turn.promise
      }
      try {
        return await work()
      } finally {
        endTurn()
      }
    },
    /** Does some work at once, which takes nobody's place but counts like the others. */
    atOnce: async <T>(work: () => Promise<T>): Promise<T> => {
      beside += 1
      try {
        return await work()
      } finally {
        beside -= 1
      }
    },
    /** Refuses who came last, until so many are left; what has begun is not given up. */
    cut: (left: number): void => {
      while (waiting.length > 0 && length() > left) {
        waiting.pop()?.reject(OVERLOADED)
        onRefused()
      }
    },
  }
}
