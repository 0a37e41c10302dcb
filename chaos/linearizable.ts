/** A call on one object. What is unknown may take effect at any time after it began, or never. */
export type Operation<Kind> = { startedMs: number; endedMs: number; isKnown: boolean; what: Kind }

/**
 * What a state becomes when an operation takes effect in it; `null` when its answer cannot be given in that state. Where
 * several states are possible, all of them.
 */
export type Rules<State, Kind> = {
  initial: State
  apply: (state: State, what: Kind, isKnown: boolean) => readonly State[]
}

/**
 * Whether the operations could have happened one at a time, each between its start and its end. A depth-first search that
 * never visits the same set of operations in the same state twice (Wing and Gong 1993; Lowe 2017).
 */
export const isLinearizable = <State, Kind>(
  operations: readonly Operation<Kind>[],
  { initial, apply }: Rules<State, Kind>,
): boolean => {
  const sorted = operations.toSorted((one, other) => one.startedMs - other.startedMs)
  const endOf = ({ isKnown, endedMs }: Operation<Kind>) => (isKnown ? endedMs : Infinity)
  const allKnown = sorted.reduce((bits, { isKnown }, index) => (isKnown ? bits | (1n << BigInt(index)) : bits), 0n)
  const seen = new Set<string>()

  const search = (done: bigint, state: State): boolean => {
    if ((done & allKnown) === allKnown) return true
    const key = `${done} ${JSON.stringify(state)}`
    if (seen.has(key)) return false
    seen.add(key)
    const open = sorted.flatMap((operation, index) => ((done >> BigInt(index)) & 1n ? [] : [{ operation, index }]))
    const firstEnd = Math.min(...open.map(({ operation }) => endOf(operation)))
    return open
      .filter(({ operation }) => operation.startedMs <= firstEnd)
      .some(({ operation, index }) =>
        apply(state, operation.what, operation.isKnown).some((next) => search(done | (1n << BigInt(index)), next)),
      )
  }
  return search(0n, initial)
}
