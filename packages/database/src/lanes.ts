/** A statement under way, with all that it writes. */
export type Flight<Entry> = { readonly batch: readonly Entry[]; readonly startedAt: number; isStalled: boolean }

/** A bounded number of lanes, of which each has one statement in flight at most; one is soon done within `soonMs`. */
export const createLanes = <Entry>(count: number, soonMs: number) => {
  const flights = new Set<Flight<Entry>>()
  let lastItems = 1
  const isAnswering = () => [...flights].some(({ isStalled }) => !isStalled)

  return {
    enter: (batch: readonly Entry[]): Flight<Entry> => {
      const flight = { batch, startedAt: performance.now(), isStalled: false }
      flights.add(flight)
      lastItems = batch.length
      return flight
    },
    leave: (flight: Flight<Entry>): void => void flights.delete(flight),
    get areIdle(): boolean {
      return flights.size === 0
    },
    /** Whether nothing is in flight, and the last statement wrote a single item. */
    get areQuiet(): boolean {
      return flights.size === 0 && lastItems === 1
    },
    get areFull(): boolean {
      return flights.size === count
    },
    /** Whether a statement is in flight that has not taken too long yet. */
    get areAnswering(): boolean {
      return isAnswering()
    },
    /** Whether a new statement would find no lane but stalled ones. */
    get areStalled(): boolean {
      return flights.size === count && !isAnswering()
    },
    /** What the statements that should soon be done write together. */
    get itemsInFlight(): number {
      const since = performance.now() - soonMs
      return [...flights].reduce((sum, { batch, startedAt }) => sum + (startedAt > since ? batch.length : 0), 0)
    },
  }
}
