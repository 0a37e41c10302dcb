import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cost } from './cost.ts'
import type { Figure, Goal } from './figures.ts'
import type { Machine } from './machine.ts'
import { plot } from './plot.ts'

export type AreaResult = {
  title: string
  machine: Machine
  rounds: number
  seconds: number
  figures: Figure[]
  costs: Cost[]
}

/** The last result of every area, by its name. */
export type Results = Record<string, AreaResult>

const DIRECTORY = join(import.meta.dirname, '..')
const JSON_FILE = join(DIRECTORY, 'RESULTS.json')

const short = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2))
const goalText = (goal: Goal, unit: string) => ('atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`) + unit
const range = ([least, most]: Figure['spread']) => `${short(least)} - ${short(most)}`
const unitOf = ({ baseline, unit }: Figure) => (baseline === null ? ` ${unit}` : 'x')

export const figureLine = (figure: Figure): string => {
  const { name, holds, candidate, baseline, value, spread, unit, goal } = figure
  const sides = baseline === null ? '' : `; ${short(candidate.median)} against ${short(baseline.median)} ${unit}`
  const verdict = holds ? 'ok  ' : 'MISS'
  return `${verdict} ${name}: ${short(value)}${unitOf(figure)} (${range(spread)}${sides}), wanted ${goalText(goal, unitOf(figure))}`
}

const costCells = ({ queries, nodeUs, postgresUs, bytesRead, bytesWritten }: Cost): string[] =>
  [queries, nodeUs, postgresUs, bytesRead, bytesWritten].map((value) => (value === null ? '-' : short(value)))

export const costLine = (cost: Cost): string => {
  const [queries, node, postgres, read, written] = costCells(cost)
  return `cost ${cost.name}: ${queries} queries, CPU ${node} µs in Node and ${postgres} µs in Postgres, ${read} bytes read, ${written} written`
}

export const table = (head: readonly string[], rows: readonly string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** A figure as documents show it. */
export const figureCells = (figure: Figure) => {
  const { name, unit, goal, holds, candidate, baseline, value, spread } = figure
  return {
    name,
    measured: `${short(candidate.median)} ${unit}`,
    baseline: baseline === null ? '' : `${short(baseline.median)} ${unit}, ${baseline.name}`,
    ratio: baseline === null ? '' : `**${short(value)}x**`,
    spread: range(spread),
    wanted: goalText(goal, unitOf(figure)),
    holds: holds ? 'yes' : '**no**',
  }
}

/** An area's part of `RESULTS.md`. */
export const sectionOf = ([name, { title, machine, rounds, seconds, figures, costs }]: [
  string,
  AreaResult,
]): string => {
  const head = ['figure', 'measured', 'baseline', 'ratio', 'spread', 'wanted', 'holds']
  const costHead = ['one request', 'queries', 'CPU µs, Node', 'CPU µs, Postgres', 'bytes read', 'bytes written']
  const { cores, cpu, memoryGb, system, node, postgres, commit, measuredAt } = machine
  const where = `${cores} cores (${cpu}), ${memoryGb} GB, ${system}, Node ${node}, Postgres ${postgres}`
  return [
    `## ${title}`,
    `\`pnpm bench ${name}\`, ${rounds} rounds of ${seconds} s a side; ${where}; commit ${commit}, ${measuredAt}.`,
    `![${title}: how far each figure is from what is wanted, and what requests cost](plots/${name}.svg)`,
    table(
      head,
      figures.map((figure) => Object.values(figureCells(figure))),
    ),
    ...(costs.length === 0
      ? []
      : [
          table(
            costHead,
            costs.map((cost) => [cost.name, ...costCells(cost)]),
          ),
        ]),
  ].join('\n\n')
}

const INTRODUCTION = `# What it costs

Written by \`pnpm bench [AREA…]\`; the numbers behind it are in [RESULTS.json](RESULTS.json). Each figure is measured
against its baseline in the same run, in turns, on one machine that also makes the load. A ratio is the median of the
rounds' ratios, and its spread the smallest and largest of them; as many rounds before them, at most three, only warm
up. Ratios travel to other machines, absolute numbers do not. Queries count what Postgres ran, BEGIN and COMMIT
included. Bytes are what the service read and wrote on all its sockets, those to Postgres included. CPU is that of the
service's process, and of all processes of Postgres.

What must hold while everything is killed takes longer and has commands of its own: \`pnpm chaos\` ([CHAOS.md](CHAOS.md)),
\`pnpm bench:crash\` (spans), \`node bench/webhooks-crash.ts\` (durable webhooks), \`node bench/models-soak.ts\` and
\`node bench/models-faults.ts\` (deployments). Images are measured by \`pnpm containers:test\`.`

export const readResults = (): Promise<Results> =>
  readFile(JSON_FILE, 'utf8').then(
    (text) => JSON.parse(text) as Results,
    () => ({}),
  )

/** Writes `RESULTS.json`, `RESULTS.md` and a plot of each area. */
export const writeResults = async (results: Results): Promise<void> => {
  await writeFile(JSON_FILE, `${JSON.stringify(results, null, 2)}\n`)
  await mkdir(join(DIRECTORY, 'plots'), { recursive: true })
  for (const [name, result] of Object.entries(results))
    await writeFile(join(DIRECTORY, 'plots', `${name}.svg`), await plot(result))
  await writeFile(
    join(DIRECTORY, 'RESULTS.md'),
    `${[INTRODUCTION, ...Object.entries(results).map(sectionOf)].join('\n\n')}\n`,
  )
}
