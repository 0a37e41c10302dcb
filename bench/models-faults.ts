import {
  matrix,
  nameOf,
  needsTwoWorkers,
  STRUCK,
  type FaultCase,
  type Struck,
  type Verdict,
} from './models/fault-case.ts'
import { faultPlayer } from './models/fault-player.ts'
import { faultStack } from './models/fault-stack.ts'
import { PROCESSES } from './models/wiring.ts'

// kill -9 of everybody at every step of create, update and delete of models, and workers that are frozen, doubled or out of
// time there. Builds nothing; a regular expression chooses cases by their names, so that they can be played in parts:
//   pnpm build && node bench/models-faults.ts [redis|postgres] [EXPRESSION]

const [queue = 'redis', filter = ''] = process.argv.slice(2) as ['redis' | 'postgres' | undefined, string | undefined]
/** The last one has two workers. */
const LANES = 3

const all = [...matrix('llmengine', STRUCK), ...matrix('launch', STRUCK)]
  .filter(({ struck }) => queue === 'redis' || struck !== 'redis')
  .filter((fault) => new RegExp(filter).test(nameOf(fault)))

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
  for (const model_id of await player.touched()) process.stdout.write(`WRONG  ${model_id} was written to later\n`)
  return played
}

const alone = all.filter((fault) => !needsTwoWorkers(fault)).values()
const together = all.filter(needsTwoWorkers).values()
const lanes = Array.from({ length: LANES }, (_, at) => (at === LANES - 1 ? lane(together, true) : lane(alone, false)))
const played = (await Promise.all(lanes)).flat()

const cell = (operation: string, struck: Struck): string => {
  const of = played.filter((one) => one.operation === operation && one.struck === struck)
  const longest = Math.max(0, ...of.map(({ ms }) => ms)) / 1000
  return `${of.filter(({ wrong }) => wrong.length === 0).length}/${of.length} in ${longest.toFixed(1)} s`
}
process.stdout.write(`\n| queue in ${queue} | ${STRUCK.join(' | ')} |\n|---|${STRUCK.map(() => '---').join('|')}|\n`)
for (const operation of ['create', 'update', 'delete'])
  process.stdout.write(`| ${operation} | ${STRUCK.map((struck) => cell(operation, struck)).join(' | ')} |\n`)
const wrong = played.filter(({ wrong }) => wrong.length > 0).length
process.stdout.write(`${played.length} cases, ${wrong} wrong\n`)
process.exitCode = wrong === 0 ? 0 : 1
