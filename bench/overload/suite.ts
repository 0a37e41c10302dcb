import type { Bench, Suite } from '../harness/bench.ts'
import type { Load } from '../harness/load-process.ts'
import type { OpenLoad } from '../harness/open-loop-process.ts'
import { median } from '../harness/figures.ts'
import { startLoader, startOpenLoader, type Loader } from '../harness/processes.ts'
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
/** Who was refused comes back after a second, or a little later. */
const RETRIED_AFTER_S = 2
/** Short ones: what a machine can do drifts within seconds. */
const TURNS = 6

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

/** A service with all that its mix asks for, and its speed when callers wait for their answers. */
const start = async (name: keyof typeof MIXES, callers: Loader, count: number) => {
  await using stack = new AsyncDisposableStack()
  const services = stack.use(await startServices([name], { settings: SETTINGS }))
  const { layOut, mix: mixOf } = MIXES[name]
  await layOut(services, count)
  const url = services.url[name]
  const mix = mixOf(services.keys[0] ?? '')
  const speed = async (seconds: number) => (await callers.run(closed(url, mix, seconds, count))).perSecond
  const metricsUrl = services.metricsUrl[name]
  const owned = stack.move()
  return { url, mix, speed, metricsUrl, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

type Stage = Awaited<ReturnType<typeof start>>

/** The speed of the one by that of the other, in turns. */
const relativeSpeed = async (one: Stage, other: Stage, seconds: number): Promise<number> => {
  const speeds = { one: 0, other: 0 }
  for (let turn = 0; turn < TURNS; turn += 1) {
    speeds.one += await one.speed(seconds / TURNS / 2)
    speeds.other += await other.speed(seconds / TURNS / 2)
  }
  return speeds.one / speeds.other
}

const overload = async (bench: Bench, name: keyof typeof MIXES): Promise<void> => {
  const figures = {
    offered: `${name}: offered under overload, of what it can`,
    slower: `${name}: p99 of the accepted under twice what it can`,
    refused: `${name}: p99 of the refused`,
    errors: `${name}: other answers`,
    useful: `${name}: accepted under overload, of what it can`,
    memory: `${name}: resident memory, end against middle`,
    recovered: `${name}: speed within ${RECOVERED_WITHIN_S} s after it, against one that had none`,
  }
  if (!bench.isWanted(...Object.values(figures))) return
  using callers = startLoader()
  using crowd = startOpenLoader()
  const count = bench.size(OBJECTS)
  await using stage = await start(name, callers, count)
  await using spared = await start(name, callers, count)
  const { url, mix } = stage
  const offer = (perSecond: number, seconds: number): OpenLoad => ({ url, mix, perSecond, seconds, count })

  const seconds = OVERLOAD_FACTOR * bench.seconds

  // As long as the other will run, since V8 goes on making what it runs faster.
  await spared.speed(seconds)
  await stage.speed(8 * bench.seconds)
  const capacity = await stage.speed(4 * bench.seconds)
  const unloadedP99s: number[] = []
  for (let run = 0; run < UNLOADED_RUNS; run += 1) {
    unloadedP99s.push((await crowd.run(offer(UNLOADED_SHARE * capacity, 2 * bench.seconds))).acceptedP99Ms)
  }
  const unloadedP99Ms = median(unloadedP99s)
  const left = RECOVERED_WITHIN_S - RETRIED_AFTER_S
  const before = await relativeSpeed(stage, spared, left)
  await using memory = watchMemory(stage.metricsUrl)
  const offered = await crowd.run(offer(2 * capacity, seconds))
  const growth = memory.growth()
  // Those who were refused wait; meanwhile the other, idle for so long, gets going again.
  await spared.speed(RETRIED_AFTER_S)
  const after = await relativeSpeed(stage, spared, left)
  // What a machine can drifts within minutes as well, so it is measured before and after.
  const usual = (capacity + (await stage.speed(4 * bench.seconds))) / 2

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
  value(figures.recovered, 'x the other', { atLeast: 0.9 }, after / before)
}

/** What happens to callers when twice as much comes as can be done, for a minute. */
export const overloadSuite: Suite = {
  title: 'Overload',
  run: async (bench) => {
    for (const name of ['agent-api', 'platform-api'] as const) await overload(bench, name)
  },
}
