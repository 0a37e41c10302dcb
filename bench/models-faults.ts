import { commit } from './harness/commit.ts'
import {
  casesOf,
  nameOf,
  needsTwoWorkers,
  STRUCK,
  type FaultCase,
  type Queue,
  type Struck,
  type Verdict,
} from './models/fault-case.ts'
import { faultPlayer } from './models/fault-player.ts'
import { recordFaults } from './models/fault-record.ts'
import { faultStack } from './models/fault-stack.ts'
import { PROCESSES } from './models/wiring.ts'

// kill -9 of everybody at every step of create, update and delete of models, and workers that are frozen, doubled or out of
// time there. Builds nothing; a regular expression chooses cases by their names, so that they can be played in parts:
//   pnpm build && node bench/models-faults.ts [redis|postgres] [EXPRESSION]
// Every run is written down; this tells what all of them came to:
//   node bench/models-verdict.ts

const [queue = 'redis', expression = ''] = process.argv.slice(2) as [Queue?, string?]
/** Of stacks with one worker, and of stacks with two. */
const LANES = 2

const all = casesOf(queue).filter((fault) => new RegExp(expression).test(nameOf(fault)))
const late: string[] = []

type Played = FaultCase & Verdict

const lane = async (cases: Iterator<FaultCase>, hasTwo: boolean): Promise<Played[]> => {
  await using stack = await faultStack({ queue, ...(hasTwo && { processes: PROCESSES }) })
  const player = faultPlayer(stack)
  const played: Played[] = []
  for (let next = cases.next(); !next.done; next = cases.next()) {
    const verdict = await player.play(next.value)
    played.push({ ...next.value, ...verdict })
    const { wrong, ms } = verdict
    const told = wrong.length === 0 ? `ok    ${(ms / 1000).toFixed(1)} s` : 'WRONG     '
    process.stdout.write(`${told}  ${nameOf(next.value)}${wrong.map((one) => `; ${one}`).join('')}\n`)
  }
  for (const model_id of await player.touched()) {
    late.push(model_id)
    process.stdout.write(`WRONG  ${model_id} was written to later\n`)
  }
  return played
}

const alone = all.filter((fault) => !needsTwoWorkers(fault)).values()
const together = all.filter(needsTwoWorkers).values()
const lanes = Array.from({ length: LANES }, () => [lane(alone, false), lane(together, true)]).flat()
const played = (await Promise.all(lanes)).flat()

const cell = (operation: string, struck: Struck): string => {
  const of = played.filter((one) => one.operation === operation && one.struck === struck)
  const longest = Math.max(0, ...of.map(({ ms }) => ms)) / 1000
  return `${of.filter(({ wrong }) => wrong.length === 0).length}/${of.length} in ${longest.toFixed(1)} s`
}
process.stdout.write(`\n| queue in ${queue} | ${STRUCK.join(' | ')} |\n|---|${STRUCK.map(() => '---').join('|')}|\n`)
for (const operation of ['create', 'update', 'delete'])
  process.stdout.write(`| ${operation} | ${STRUCK.map((struck) => cell(operation, struck)).join(' | ')} |\n`)
const wrong = played.filter((one) => one.wrong.length > 0).map(nameOf)
process.stdout.write(`${played.length} cases, ${wrong.length} wrong, ${late.length} models written to later\n`)
const longest_s = Number((Math.max(0, ...played.map(({ ms }) => ms)) / 1000).toFixed(1))
const at = new Date().toISOString()
await recordFaults({ queue, expression, cases: played.length, wrong, late, longest_s, commit: commit(), at })
process.exitCode = wrong.length + late.length === 0 ? 0 : 1
