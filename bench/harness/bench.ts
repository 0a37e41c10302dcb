import { costOf, type Cost, type Measured } from './cost.ts'
import {
  compare,
  figureOfValues,
  type Comparison,
  type Figure,
  type Goal,
  type Value,
  type Variant,
} from './figures.ts'
import { costLine, figureLine } from './results.ts'

export type BenchOptions = {
  rounds: number
  /** How long one measurement of one side takes. */
  seconds: number
  /** Measures only figures whose name contains this. */
  only: string
  /** Whether this only shows that everything runs, with a thousandth of the data. */
  quick: boolean
}

/** What an area's suite measures with. */
export type Bench = {
  rounds: number
  seconds: number
  /** How many rows to lay out, in place of `full`. */
  size: (full: number) => number
  /** Whether any of these figures is asked for; costly preparation may be left out otherwise. */
  isWanted: (...names: string[]) => boolean
  compare: (comparison: Comparison) => Promise<void>
  measure: (figure: { name: string; unit: string; goal: Goal } & Pick<Variant, 'measure'>) => Promise<void>
  /** A figure from values measured elsewhere. */
  value: (value: Value) => void
  /** @returns what it measured, if that was asked for */
  cost: (name: string, measured: Measured, work: () => Promise<number>) => Promise<Cost | null>
}

/** The benchmarks of an area, each against its baseline. */
export type Suite = { title: string; run: (bench: Bench) => Promise<void> }

const print = (line: string) => void process.stdout.write(`${line}\n`)

export const createBench = ({ rounds, seconds, only, quick }: BenchOptions) => {
  const figures: Figure[] = []
  const costs: Cost[] = []
  const add = (figure: Figure) => {
    figures.push(figure)
    print(figureLine(figure))
  }
  const isWanted = (...names: string[]) => names.some((name) => name.includes(only))
  const bench: Bench = {
    rounds,
    seconds,
    size: (full) => (quick ? Math.max(4, Math.ceil(full / 1000)) : full),
    isWanted,
    compare: async (comparison) => {
      if (isWanted(comparison.name)) add(await compare(comparison, rounds))
    },
    measure: async ({ name, unit, goal, measure }) => {
      if (!isWanted(name)) return
      const values: number[] = []
      for (let round = 0; round <= rounds; round += 1) values.push(await measure(round))
      add(figureOfValues({ name, unit, goal, values: values.slice(1) }))
    },
    value: (value) => {
      if (isWanted(value.name)) add(figureOfValues(value))
    },
    cost: async (name, measured, work) => {
      if (!isWanted('cost', name)) return null
      const cost = await costOf(name, measured, work)
      costs.push(cost)
      print(costLine(cost))
      return cost
    },
  }
  return { bench, figures, costs }
}
