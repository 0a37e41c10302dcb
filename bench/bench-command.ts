import { parseArgs } from 'node:util'
import { areas } from './areas.ts'
import { createBench, type BenchOptions } from './harness/bench.ts'
import { describeMachine } from './harness/machine.ts'
import { writeReadme } from './harness/readme.ts'
import { readResults, writeResults, type AreaResult, type Results } from './harness/results.ts'

// pnpm bench [AREA…] [--only TEXT] [--rounds 5] [--seconds 1.5] [--quick]
//
// Writes RESULTS.md, RESULTS.json, a plot of each area and the figures in the README, unless it measured only a part.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const { quick, only } = values
const options: BenchOptions = {
  only,
  quick,
  rounds: Number(values.rounds ?? (quick ? 1 : 5)),
  seconds: Number(values.seconds ?? (quick ? 0.1 : 1.5)),
}
const isPart = quick || only !== ''

const unknown = positionals.filter((name) => !(name in areas))
if (unknown.length > 0) {
  process.stderr.write(`no such area: ${unknown.join(', ')}; there are ${Object.keys(areas).join(', ')}\n`)
  process.exit(2)
}

const runArea = async (name: string): Promise<AreaResult> => {
  const suite = areas[name]!
  const started = performance.now()
  process.stdout.write(`\n${suite.title}\n`)
  const { bench, figures, costs } = createBench(options)
  const machine = await describeMachine()
  await suite.run(bench)
  process.stdout.write(`${suite.title}: ${Math.round((performance.now() - started) / 1000)} s\n`)
  return { title: suite.title, machine, rounds: options.rounds, seconds: options.seconds, figures, costs }
}

const writeEverywhere = async (results: Results): Promise<void> => {
  await writeResults(results)
  await writeReadme(results)
}

let holds = true
for (const name of positionals.length === 0 ? Object.keys(areas) : positionals) {
  const result = await runArea(name)
  holds &&= result.figures.every((figure) => figure.holds)
  // After each area, so that nothing is lost when a later one fails.
  if (!isPart) await writeEverywhere({ ...(await readResults()), [name]: result })
}
process.exitCode = holds || quick ? 0 : 1
