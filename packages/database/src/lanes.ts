/** A statement under way, with all that it writes. */
export type Flight<Entry> = { readonly batch: readonly Entry[]; isLate: boolean; isStalled: boolean }

type Keyed = { readonly key: string }

const isStalled = (flight: Flight<Keyed>): boolean => flight.isStalled

/** A bounded number of lanes, of which each has one statement in flight at most. */
export const createLanes = <Entry extends Keyed>(count: number) => {
  // No Set: the tables that one leaves behind as it changes keep what they held alive until old space is collected.
  const flights: Flight<Entry>[] = []
  let lastItems = 1

  return {
    enter: (batch: readonly Entry[]): Flight<Entry> => {
      const flight = { batch, isLate: false, isStalled: false }
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
    /** Whether a new statement would find no lane but stalled ones. */
    get areStalled(): boolean {
      return flights.length === count && flights.every(isStalled)
    },
    /** Whether items of this key wait for a statement that has stalled, however many lanes are free. */
    isStuck: (key: string): boolean =>
      flights.some(isStalled) &&
      flights.some((flight) => flight.isStalled && flight.batch.some((entry) => entry.key === key)),
    /** What the statements that are not late write together. */
    get itemsInFlight(): number {
      return flights.reduce((sum, { batch, isLate }) => sum + (isLate ? 0 : batch.length), 0)
    },
  }
}
