import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../harness/bench.ts'
import { cpuUsOf } from '../harness/cost.ts'
import { faultStack, type FaultStack } from './fault-stack.ts'
import { insistentClient } from './insistent-client.ts'

const DEPLOYMENTS = 1_000
const CLIENTS = 32
/** `happy` models are built in 10 s and serve 5 s later; here that is one second. */
const TIME_SCALE = 15

const GIVEN_UP_MS = 300_000

const untilNoneDeploys = async ({ db }: FaultStack): Promise<void> => {
  for (const until = performance.now() + GIVEN_UP_MS; performance.now() < until;) {
    const [row] = await db.sql<[{ left: number }]>`
      select count(*)::int as left from platform.models where status = 'deploying'`
    if (row.left === 0) return
    await delay(100)
  }
}

const createAll = async (stack: FaultStack, count: number): Promise<void> => {
  const client = insistentClient(stack)
  const numbers = Array.from({ length: count }, (_, number) => number).values()
  const create = async () => {
    for (const number of numbers) await client.create(`burst ${number}`, 'llmengine')
  }
  await Promise.all(Array.from({ length: CLIENTS }, create))
}

/** Seconds from the first create until the last model is ready. @throws when one is not */
const burstSeconds = async (stack: FaultStack, count: number): Promise<number> => {
  const started = performance.now()
  await createAll(stack, count)
  await untilNoneDeploys(stack)
  const seconds = (performance.now() - started) / 1000
  const [row] = await stack.db.sql<[{ ready: number }]>`
    select count(*)::int as ready from platform.models where status = 'ready'`
  if (row.ready !== count) throw new Error(`${row.ready} of ${count} models became ready`)
  return seconds
}

/** The share of one core that a worker with nothing to do takes. */
const idlePercent = async (stack: FaultStack, seconds: number): Promise<number> => {
  await delay(1_000)
  const before = await cpuUsOf(stack.pid('deployer'))
  await delay(seconds * 1_000)
  return ((await cpuUsOf(stack.pid('deployer'))) - before) / (seconds * 10_000)
}

/** Many deployments at once, and none at all, with the settings that the product ships with. */
export const bursts = async (bench: Bench): Promise<void> => {
  for (const queue of ['redis', 'postgres'] as const) {
    const names = {
      burst: `1,000 deployments at once, vendor of 1 s, queue in ${queue}`,
      idle: `CPU of a worker with nothing to do, queue in ${queue}`,
    }
    if (!bench.isWanted(...Object.values(names))) continue
    await using stack = await faultStack({ queue, patience: 'as shipped', timeScale: TIME_SCALE })
    const idle = await idlePercent(stack, 5 * bench.seconds)
    bench.value({ name: names.idle, unit: '% of a core', goal: { atMost: 1 }, values: [idle] })
    if (!bench.isWanted(names.burst)) continue
    const seconds = await burstSeconds(stack, bench.size(DEPLOYMENTS))
    bench.value({ name: names.burst, unit: 's', goal: { atMost: 120 }, values: [seconds] })
  }
}
