/** A statement under way, with all that it writes. */
export type Flight<Entry> = { readonly batch: readonly Entry[]; readonly startedAt: number; isStalled: boolean }

/** A bounded number of lanes, of which each has one statement in flight at most; one is soon done within `soonMs`. */
export const createLanes = <Entry>(count: number, soonMs: number) => {
  // No Set: the tables that one leaves behind as it changes keep what they held alive until old space is collected.
  const flights: Flight<Entry>[] = []
  let lastItems = 1
  const isAnswering = () => flights.some(({ isStalled }) => !isStalled)

  return {
    enter: (batch: readonly Entry[]): Flight<Entry> => {
      const flight = { batch, startedAt: performance.now(), isStalled: false }
      flights.push(flight)
      lastItems = batch.length
      return flight
    },
    leave: (flight: Flight<Entry>): void => void flights.splice(flights.indexOf(flight), 1),
    get areIdle(): boolean {
      return flights.length === 0
    },
    /** Whether nothing is in flight, and the last statement wrote a single item. */
    get areQuiet(): boolean {
      return flights.length === 0 && lastItems === 1
    },
    get areFull(): boolean {
      return flights.length === count
    },
    /** Whether a statement is in flight that has not taken too long yet. */
    get areAnswering(): boolean {
      return isAnswering()
    },
    /** Whether a new statement would find no lane but stalled ones. */
    get areStalled(): boolean {
      return flights.length === count && !isAnswering()
    },
    /** What the statements that should soon be done write together. */
    get itemsInFlight(): number {
      const since = performance.now() - soonMs
      return flights.reduce((sum, { batch, startedAt }) => sum + (startedAt > since ? batch.length : 0), 0)
    },
  }
}
