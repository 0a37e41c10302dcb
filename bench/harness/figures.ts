/** Holds for `candidate / baseline`, or for the value itself where there is no baseline. */
export type Goal = { atLeast: number } | { atMost: number }

/** One thing that is measured, as often as asked; the result is one number, such as requests in a second. */
export type Variant = { name: string; measure: (round: number) => Promise<number> }

export type Comparison = { name: string; unit: string; baseline: Variant; candidate: Variant; goal: Goal }

export type Value = { name: string; unit: string; goal: Goal; values: readonly number[] }

type Side = { name: string; median: number }

/** What a benchmark found: medians of its rounds, and whether that is what is wanted. */
export type Figure = {
  name: string
  unit: string
  goal: Goal
  holds: boolean
  candidate: Side
  /** Null for a figure that is held against a fixed number. */
  baseline: Side | null
  /** The median of the rounds' ratios, or of the values. */
  value: number
  /** The smallest and the largest of the rounds' ratios, or values. */
  spread: [number, number]
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const spreadOf = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)]

/** How far a value is on the right side of its goal: 1 is just enough, 2 is twice as good as wanted. */
export const marginOf = (goal: Goal, value: number): number =>
  'atLeast' in goal ? value / goal.atLeast : goal.atMost / value

/** A figure that is held against a fixed number. */
export const figureOfValues = ({ name, unit, goal, values }: Value): Figure => {
  const value = median(values)
  const holds = 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
  return {
    name,
    unit,
    goal,
    holds,
    candidate: { name, median: value },
    baseline: null,
    value,
    spread: spreadOf(values),
  }
}

/** What runs for months is measured when it is compiled; the first rounds, which do not count, see to that. */
const MOST_WARM_UP_ROUNDS = 3

/**
 * Measures two variants in turns, the order swapped every round, after rounds that do not count. The ratio is the
 * median of the rounds' own ratios, so that a machine that is busy for a while slows both sides of it.
 */
export const compare = async (comparison: Comparison, rounds: number): Promise<Figure> => {
  const { name, unit, baseline, candidate, goal } = comparison
  const pairs: { base: number; value: number }[] = []
  const warmUp = Math.min(rounds, MOST_WARM_UP_ROUNDS)
  for (let round = 0; round < warmUp + rounds; round += 1) {
    const pair = { base: 0, value: 0 }
    const measureBaseline = async () => void (pair.base = await baseline.measure(round))
    if (round % 2 === 0) await measureBaseline()
    pair.value = await candidate.measure(round)
    if (round % 2 === 1) await measureBaseline()
    if (round >= warmUp) pairs.push(pair)
  }
  return {
    ...figureOfValues({ name, unit, goal, values: pairs.map(({ base, value }) => value / base) }),
    baseline: { name: baseline.name, median: median(pairs.map(({ base }) => base)) },
    candidate: { name: candidate.name, median: median(pairs.map(({ value }) => value)) },
  }
}
