import { hash } from 'node:crypto'

export type Random = {
  /** From 0 up to 1. */
  next: () => number
  between: (low: number, high: number) => number
  /** A whole number from 0 up to `below`. */
  int: (below: number) => number
  chance: (probability: number) => boolean
  pick: <Item>(items: readonly Item[]) => Item
}

/** Each name has a stream of its own, so that one more draw in one place changes nothing in another. */
export const randomOf = (seed: number, name: string): Random => {
  let state = Number.parseInt(hash('sha256', `${seed} ${name}`).slice(0, 8), 16)
  // mulberry32, by Tommy Ettinger, in the public domain.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    int,
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from')
      return items[int(items.length)]!
    },
  }
}
