import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, Suite } from '../harness/bench.ts'
import type { Load } from '../harness/load-process.ts'
import type { OpenLoad } from '../harness/open-loop-process.ts'
import { median } from '../harness/figures.ts'
import { startLoader, startOpenLoader } from '../harness/processes.ts'
import { startServices } from '../harness/services.ts'
import { agentMix } from './agent-mix.ts'
import type { Mix } from './mix.ts'
import { platformMix } from './platform-mix.ts'
import { watchMemory } from './memory.ts'

/** A measurement of a second and a half, which is the default, means a minute of overload. */
const OVERLOAD_FACTOR = 40
const UNLOADED_SHARE = 0.1
/** One stall of the disk is more than a hundredth of a run; the median of several has none. */
const UNLOADED_RUNS = 5
/** Enough to keep everything busy, and no crowd. */
const CALLERS = 64
const OBJECTS = 500
const RECOVERED_WITHIN_S = 5
/** Who was refused comes back after a second; less is enough where this only shows that everything runs. */
const RETRIED_AFTER_S = 2

const MIXES = { 'agent-api': agentMix, 'platform-api': platformMix } as const

// One key stands for the many of a busy day: what is looked at is the service's own limit, not that of a key.
const SETTINGS = { RATE_LIMIT: '1000000', RATE_BURST: '1000000' }

const closed = (url: string, mix: Mix, seconds: number, count: number): Load => ({
  url,
  requests: mix.flatMap(({ weight, request }) => Array.from({ length: weight }, () => request)),
  connections: CALLERS,
  seconds,
  count,
})

const overload = async (bench: Bench, name: keyof typeof MIXES): Promise<void> => {
  const figures = {
    offered: `${name}: offered under overload, of what it can`,
    slower: `${name}: p99 of the accepted under twice what it can`,
    refused: `${name}: p99 of the refused`,
    errors: `${name}: other answers`,
    useful: `${name}: accepted under overload, of what it can`,
    memory: `${name}: resident memory, end against middle`,
    recovered: `${name}: speed within ${RECOVERED_WITHIN_S} s after it, of what it can`,
  }
  if (!bench.isWanted(...Object.values(figures))) return
  await using services = await startServices([name], { settings: SETTINGS })
  using callers = startLoader()
  using crowd = startOpenLoader()
  const { layOut, mix: mixOf } = MIXES[name]
  const count = bench.size(OBJECTS)
  await layOut(services, count)
  const url = services.url[name]
  const mix = mixOf(services.keys[0] ?? '')
  const offer = (perSecond: number, seconds: number): OpenLoad => ({ url, mix, perSecond, seconds, count })
  const speed = async (seconds: number) => (await callers.run(closed(url, mix, seconds, count))).perSecond

  await speed(8 * bench.seconds)
  const capacity = await speed(4 * bench.seconds)
  const unloadedP99s: number[] = []
  for (let run = 0; run < UNLOADED_RUNS; run += 1) {
    unloadedP99s.push((await crowd.run(offer(UNLOADED_SHARE * capacity, 2 * bench.seconds))).acceptedP99Ms)
  }
  const unloadedP99Ms = median(unloadedP99s)
  const seconds = OVERLOAD_FACTOR * bench.seconds
  await using memory = watchMemory(services.metricsUrl[name])
  const offered = await crowd.run(offer(2 * capacity, seconds))
  const growth = memory.growth()
  await delay(Math.min(RETRIED_AFTER_S, 4 * bench.seconds) * 1000)
  const recovered = await speed(Math.min(2 * bench.seconds, RECOVERED_WITHIN_S - RETRIED_AFTER_S))
  // What a machine can drifts within minutes, so it is measured before and after.
  const usual = (capacity + (await speed(4 * bench.seconds))) / 2

  const value = (figure: string, unit: string, goal: { atMost: number } | { atLeast: number }, of: number) =>
    bench.value({ name: figure, unit, goal, values: [of] })
  const came = offered.accepted + offered.refused
  value(figures.offered, 'of capacity', { atLeast: 1.8 }, came / seconds / capacity)
  value(figures.slower, 'x unloaded', { atMost: 5 }, offered.acceptedP99Ms / unloadedP99Ms)
  value(figures.refused, 'x unloaded', { atMost: 5 }, offered.refusedP99Ms / unloadedP99Ms)
  value(
    figures.errors,
    'answers',
    { atMost: 0 },
    Object.values(offered.errors).reduce((sum, one) => sum + one, 0),
  )
  value(figures.useful, 'of capacity', { atLeast: 0.5 }, offered.accepted / seconds / usual)
  value(figures.memory, 'x', { atMost: 1.1 }, growth)
  value(figures.recovered, 'of capacity', { atLeast: 0.9 }, recovered / usual)
}

/** What happens to callers when twice as much comes as can be done, for a minute. */
export const overloadSuite: Suite = {
  title: 'Overload',
  run: async (bench) => {
    for (const name of ['agent-api', 'platform-api'] as const) await overload(bench, name)
  },
}
