import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../harness/bench.ts'
import { startClients } from './acknowledged.ts'
import { crashStack } from './crash.ts'
import { freezePostgres, sendLargeBatch, watchMemory } from './frozen-postgres.ts'

const CLIENTS = 200
const LARGE = 64
const MB_OF_MIB = 1.048_576

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
  await delay(bench.seconds * 5_000)
  frozen[Symbol.dispose]()
  await Promise.all(large)
  const { problems } = await clients.finish()
  if (problems.length > 0) throw new Error(problems.slice(0, 5).join('\n'))
  bench.value({ name, unit: 'MB', goal: { atMost: 300 }, values: [memory.peakMiB() * MB_OF_MIB] })
}
