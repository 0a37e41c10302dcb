import { matrix, nameOf, STRUCK, type FaultCase, type Struck, type Verdict } from './models/fault-case.ts'
import { faultPlayer } from './models/fault-player.ts'
import { faultStack } from './models/fault-stack.ts'

// kill -9 of everybody at every step of create, update and delete of models. Builds nothing:
//   pnpm build && node bench/models-faults.ts [redis|postgres] [part of a case's name]

const [queue = 'redis', filter = ''] = process.argv.slice(2) as ['redis' | 'postgres' | undefined, string | undefined]
const LANES = 3

const all = [...matrix('llmengine', STRUCK), ...matrix('launch', STRUCK)]
  .filter(({ struck }) => queue === 'redis' || struck !== 'redis')
  .filter((fault) => nameOf(fault).includes(filter))

type Played = FaultCase & Verdict

const lane = async (cases: Iterator<FaultCase>): Promise<Played[]> => {
  await using stack = await faultStack({ queue })
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

const cases = all.values()
const played = (await Promise.all(Array.from({ length: LANES }, () => lane(cases)))).flat()

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
