import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { simulate } from './simulate.ts'

// node src/simulation/simulate-command.ts [--histories N] [--seed FIRST]: exits 1 at the first history that goes wrong.
const { values } = parseArgs({ options: { histories: { type: 'string' }, seed: { type: 'string' } } })
const histories = Number(values.histories ?? 100_000)
const first = Number(values.seed ?? randomInt(2 ** 31))
const started = performance.now()
for (let seed = first; seed < first + histories; seed += 1) {
  const broken = await simulate(seed)
  if (broken === null) continue
  process.stdout.write(`seed ${seed}: ${broken}\n`)
  process.exit(1)
}
const minutes = (performance.now() - started) / 60_000
process.stdout.write(
  `${histories} histories from seed ${first}: every invariant held; ${Math.round(histories / minutes)} histories a minute\n`,
)
