import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { dirname } from 'node:path'

/** One thing that is measured, as often as asked; the result is one number, such as requests in a second. */
export type Variant = { name: string; measure: (round: number) => Promise<number> }

export type Comparison = {
  name: string
  unit: string
  baseline: Variant
  candidate: Variant
  /** Holds for `candidate / baseline`. */
  goal: { atLeast: number } | { atMost: number }
}

export type Figure = {
  name: string
  unit: string
  goal: string
  isMet: boolean
  /** Medians of the rounds; a figure without a baseline is a plain value. */
  baseline: number | null
  candidate: number
  ratio: number | null
  /** The smallest and the largest of the rounds' ratios, or values. */
  spread: [number, number]
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const spreadOf = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)]
const short = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2))
const goalOf = (goal: Comparison['goal']) => ('atLeast' in goal ? `>= ${goal.atLeast}x` : `<= ${goal.atMost}x`)
const meets = (goal: Comparison['goal'], value: number) =>
  'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost

const announce = (figure: Figure): Figure => {
  const { name, isMet, candidate, baseline, ratio, spread, unit, goal } = figure
  const value = ratio === null ? `${short(candidate)} ${unit}` : `${ratio.toFixed(2)}x`
  const of = baseline === null ? '' : `; ${short(candidate)} against ${short(baseline)} ${unit}`
  process.stdout.write(
    `${isMet ? 'ok  ' : 'MISS'} ${name}: ${value} (${spread.map(short).join('-')}${of}), wanted ${goal}\n`,
  )
  return figure
}

/**
 * Measures two variants in turns, the order swapped every round, after a round that does not count. The ratio is the
 * median of the rounds' own ratios, so that a machine that is busy for a while slows both sides of it.
 */
export const compare = async (comparison: Comparison, rounds: number): Promise<Figure> => {
  const { name, unit, baseline, candidate, goal } = comparison
  const values: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [0, 0]
    const order = round % 2 === 0 ? [0, 1] : [1, 0]
    for (const side of order) pair[side] = await [baseline, candidate][side]!.measure(round)
    if (round > 0) values.push(pair)
  }
  const ratios = values.map(([base, value]) => value / base)
  const ratio = median(ratios)
  const [base, value] = [median(values.map(([base]) => base)), median(values.map(([, value]) => value))]
  const isMet = meets(goal, ratio)
  return announce({
    name,
    unit,
    goal: goalOf(goal),
    isMet,
    baseline: base,
    candidate: value,
    ratio,
    spread: spreadOf(ratios),
  })
}

/** A figure that is held against a fixed number, measured in rounds after one that does not count. */
export const measure = async (
  { name, unit, goal, measure }: { name: string; unit: string; goal: Comparison['goal'] } & Pick<Variant, 'measure'>,
  rounds: number,
): Promise<Figure> => {
  const values: number[] = []
  for (let round = 0; round <= rounds; round += 1) values.push(await measure(round))
  const counted = values.slice(1)
  return valueFigure({ name, unit, goal, values: counted })
}

/** A figure from values measured elsewhere, held against a fixed number. */
export const valueFigure = (given: {
  name: string
  unit: string
  goal: Comparison['goal']
  values: readonly number[]
}): Figure => {
  const { name, unit, goal, values } = given
  const candidate = median(values)
  const wanted = `${goalOf(goal).slice(0, -1)} ${unit}`
  return announce({
    name,
    unit,
    goal: wanted,
    isMet: meets(goal, candidate),
    baseline: null,
    candidate,
    ratio: null,
    spread: spreadOf(values),
  })
}

const markdownOf = (title: string, figures: readonly Figure[]): string => {
  const rows = figures.map(({ name, unit, goal, isMet, baseline, candidate, ratio, spread }) => {
    const numbers =
      baseline === null ? `${short(candidate)} ${unit}` : `${short(candidate)} / ${short(baseline)} ${unit}`
    const shown = ratio === null ? '' : `${ratio.toFixed(2)}x`
    return `| ${name} | ${numbers} | ${shown} | ${spread.map(short).join(' - ')} | ${goal} | ${isMet ? 'yes' : '**no**'} |`
  })
  const head = ['| figure | measured / baseline | ratio | spread | wanted | met |', '|---|---|---|---|---|---|']
  return [
    `# ${title}`,
    '',
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}`,
    '',
    ...head,
    ...rows,
    '',
  ].join('\n')
}

/** Writes what was measured as `<path>.json` and `<path>.md`. */
export const writeReport = async (path: string, title: string, figures: readonly Figure[]): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.json`, `${JSON.stringify({ title, figures }, null, 2)}\n`)
  await writeFile(`${path}.md`, markdownOf(title, figures))
}
