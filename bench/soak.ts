import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ServiceName } from '@keelson/local-stack'
import { median } from './harness/figures.ts'
import { startServices } from './harness/services.ts'
import { openFlows } from './soak/flows.ts'
import { heapAfterGc } from './soak/heap.ts'
import { writeSoak } from './soak/report.ts'

// Every operation again and again at 70 % of what the services can, and a model deployed all the while:
//   node bench/soak.ts [--seconds 600] [--write]
// Ends with 1 when an answer was an error, or when the heap of a service, after garbage collection, has grown; with
// `--write` README.md tells what came of it.

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, write: { type: 'boolean', default: false } },
})
const seconds = Number(values.seconds)
const NAMES: readonly ServiceName[] = ['vendor-simulator', 'platform-api', 'agent-api', 'webhook-worker', 'deployer']
const CALLERS = 8
const SHARE = 0.7
const MOST_GROWTH = 1.05
const SAMPLES = 12
/** Caches fill and code is compiled in the first of these. */
const WARM_UP_SAMPLES = 3
const MOST_ERRORS_TOLD = 20

await using services = await startServices(NAMES, { accounts: CALLERS + 1 })
using flows = await openFlows(services)
const [deploying = '', ...keys] = services.keys
const errors: string[] = []
let requests = 0

const call = async (key: string) => {
  const outcome = await flows.everything(key)
  requests += outcome.requests
  errors.push(...outcome.errors)
}

/** Every caller goes through everything again and again, beginning every `pauseMs`, or at once where it is late. */
const callFor = async (forSeconds: number, pauseMs: number) => {
  const until = performance.now() + forSeconds * 1000
  const before = requests
  const run = async (key: string) => {
    for (let due = performance.now(); performance.now() < until; due += pauseMs) {
      await delay(Math.max(0, due - performance.now()))
      await call(key)
    }
  }
  await Promise.all(keys.map(run))
  return (requests - before) / forSeconds
}

const deployUntil = async (signal: AbortSignal) => {
  for (let n = 0; !signal.aborted; n += 1) {
    await flows.deployment(deploying, `soak-${n}`).catch((error: unknown) => errors.push(String(error)))
    requests += 1
  }
}

const heaps: Record<string, number>[] = []
const sample = async () => {
  const sizes = NAMES.map(async (name) => [name, await heapAfterGc(services.inspectorUrl[name])] as const)
  heaps.push(Object.fromEntries(await Promise.all(sizes)))
}

await callFor(seconds / 20, 0)
const capacity = await callFor(seconds / 20, 0)
const requestsOfARun = (await flows.everything(keys[0] ?? '')).requests
const pauseMs = (CALLERS * requestsOfARun * 1000) / (SHARE * capacity)
const stopping = new AbortController()
const deploys = deployUntil(stopping.signal)
const rates: number[] = []
for (let n = 0; n < SAMPLES; n += 1) {
  rates.push(await callFor(seconds / SAMPLES, pauseMs))
  // What is under way belongs to the heap too, so that nothing of the callers is while it is looked at.
  await sample()
}
const rate = median(rates)
stopping.abort()
await deploys

const steady = heaps.slice(WARM_UP_SAMPLES)
const third = Math.ceil(steady.length / 3)
const heapOf = (name: string, part: typeof steady) => median(part.map((sizes) => sizes[name] ?? Number.NaN))
const growth = Object.fromEntries(
  NAMES.map((name) => [name, heapOf(name, steady.slice(-third)) / heapOf(name, steady.slice(0, third))]),
)
const megabytes = Object.fromEntries(
  NAMES.map((name) => [name, heaps.map((sizes) => Math.round((sizes[name] ?? 0) / 1e5) / 10)]),
)
for (const error of errors.slice(0, MOST_ERRORS_TOLD)) process.stdout.write(`${error}\n`)
const verdict = {
  seconds,
  requests,
  perSecond: rate,
  ofCapacity: rate / capacity,
  errors: errors.length,
  growth,
  megabytes,
}
process.stdout.write(`${JSON.stringify(verdict)}\n`)
if (values.write) await writeSoak(verdict)
process.exitCode = errors.length === 0 && Object.values(growth).every((of) => of <= MOST_GROWTH) ? 0 : 1
