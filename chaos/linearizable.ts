/** A call on one object. What is unknown may take effect at any time after it began, or never. */
export type Operation<Kind> = { startedMs: number; endedMs: number; isKnown: boolean; what: Kind }

/**
 * What a state becomes when an operation takes effect in it; none when its answer cannot be given in that state, several
 * where more than one is possible.
 */
export type Rules<State, Kind> = {
  initial: State
  apply: (state: State, what: Kind, isKnown: boolean) => readonly State[]
}

/** Sets of operations are bits by their position. */
type Node<State> = { done: bigint; used: bigint; state: State }

/** Whether the same was reached before with no more unknown operations used up; remembers it if not. */
const visits = <State>() => {
  const usedBefore = new Map<string, bigint[]>()
  return ({ done, used, state }: Node<State>): boolean => {
    const key = `${done} ${JSON.stringify(state)}`
    const before = usedBefore.get(key) ?? []
    if (before.some((fewer) => (fewer & used) === fewer)) return true
    usedBefore.set(key, [...before, used])
    return false
  }
}

/** Of unknown operations that do the same, the earliest stands for all. */
const distinct = <Kind>(operations: readonly { operation: Operation<Kind>; bit: bigint }[]) => [
  ...new Map(operations.toReversed().map((one) => [JSON.stringify(one.operation.what), one])).values(),
]

/**
 * Whether the operations could have happened one at a time, each between its start and its end (Wing and Gong 1993, with
 * the memory of Lowe 2017). Ways that use fewer unknown operations are tried first, since a way that uses more to come to
 * the same state can only be worse.
 */
export const isLinearizable = <State, Kind>(
  operations: readonly Operation<Kind>[],
  { initial, apply }: Rules<State, Kind>,
): boolean => {
  const all = operations
    .toSorted((one, other) => one.startedMs - other.startedMs)
    .map((operation, index) => ({ operation, bit: 1n << BigInt(index) }))
  const known = all.filter(({ operation }) => operation.isKnown)
  const unknown = all.filter(({ operation }) => !operation.isKnown)
  const wasVisited = visits<State>()

  const after = ({ done, used, state }: Node<State>, { operation, bit }: (typeof all)[number]): Node<State>[] => {
    const { what, isKnown } = operation
    const sets = isKnown ? { done: done | bit, used } : { done, used: used | bit }
    return apply(state, what, isKnown).map((next) => ({ ...sets, state: next }))
  }

  let layer: Node<State>[] = [{ done: 0n, used: 0n, state: initial }]
  while (layer.length > 0) {
    const withOneMore: Node<State>[] = []
    for (let node = layer.pop(); node !== undefined; node = layer.pop()) {
      const { done, used } = node
      const open = known.filter(({ bit }) => (done & bit) === 0n)
      if (open.length === 0) return true
      if (wasVisited(node)) continue
      const firstEnd = Math.min(...open.map(({ operation }) => operation.endedMs))
      const hasBegun = ({ operation }: (typeof all)[number]) => operation.startedMs <= firstEnd
      for (const one of open.filter(hasBegun)) layer.push(...after(node, one))
      const unused = unknown.filter((one) => (used & one.bit) === 0n && hasBegun(one))
      for (const one of distinct(unused)) withOneMore.push(...after(node, one))
    }
    layer = withOneMore
  }
  return false
}
