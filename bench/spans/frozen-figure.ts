import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../harness/bench.ts'
import { startClients } from './acknowledged.ts'
import { crashStack } from './crash.ts'
import { freezePostgres, sendLargeBatch, watchMemory } from './frozen-postgres.ts'

const CLIENTS = 200
const LARGE = 64
const MB_OF_MIB = 1.048_576
/** A statement that takes longer is answered 503. */
const STALL_SECONDS = 8
/** How many times as long as a measurement Postgres is frozen: with one of more than a second, until statements stall. */
const FROZEN_TIMES = 8

/** How much memory the service takes at most while it is asked for more than its frozen Postgres will ever write. */
export const frozenFigure = async (bench: Bench): Promise<void> => {
  const name = 'resident memory while Postgres is frozen under full load, most'
  if (!bench.isWanted(name) || process.platform !== 'linux') return
  await using stack = await crashStack()
  const clients = startClients(stack, bench.size(CLIENTS))
  await delay(bench.seconds * 1_000)
  using memory = watchMemory(stack.servicePid())
  const frozen = freezePostgres(stack)
  const large = Array.from({ length: bench.size(LARGE) }, (_, index) => sendLargeBatch(stack, `large-${index}`))
  const frozenSeconds = bench.seconds * FROZEN_TIMES
  await delay(frozenSeconds * 1_000)
  frozen[Symbol.dispose]()
  await Promise.all(large)
  const { 200: before = 0, 503: shed = 0 } = clients.statuses()
  await delay(bench.seconds * 1_000)
  const { 200: after = 0 } = clients.statuses()
  const { problems } = await clients.finish()
  if (problems.length > 0) throw new Error(problems.slice(0, 5).join('\n'))
  if (frozenSeconds > STALL_SECONDS && (shed === 0 || after === before))
    throw new Error('nobody was shed while Postgres was frozen, or served after it')
  bench.value({ name, unit: 'MB', goal: { atMost: 300 }, values: [memory.peakMiB() * MB_OF_MIB] })
}
