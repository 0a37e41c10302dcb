import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { describeMachine } from './harness/machine.ts'
import { faultStack, type Victim } from './models/fault-stack.ts'
import { recordSoak } from './models/soak-record.ts'
import { soakClients } from './models/soak-clients.ts'
import { problemsOf, underWay, type Problem } from './models/soak-verdict.ts'
import { PROCESSES } from './models/wiring.ts'

// Kills deployers, the API, Redis (with its data) and Postgres at random while models are created, updated and deleted
// at a vendor that fails, then looks for what was lost, doubled or stuck. Builds nothing:
//   pnpm build && node bench/models-soak.ts [KILLS] [redis|postgres]
// Every run is written down, so that short ones make a long one; this tells what all of them came to:
//   node bench/models-verdict.ts

const [kills = '300', queue = 'redis'] = process.argv.slice(2) as [string?, ('redis' | 'postgres')?]
const CLIENTS = 12
const PAUSE_MS = 1_500
const AWAY_MS = 500
const QUIET_WITHIN_MS = 330_000

// Long enough for a machine that is busy with starting processes: a late packet must not outlive SETTLE_TIME.
const PATIENCE = {
  LEASE: '3s',
  SETTLE_TIME: '8s',
  VENDOR_REQUEST_TIMEOUT: '1s',
  QUEUEING_TIMEOUT: '300s',
  DEPLOYMENT_TIMEOUT: '300s',
  TEARDOWN_TIMEOUT: '300s',
}

const lag = monitorEventLoopDelay()
lag.enable()
await using stack = await faultStack({ queue, processes: PROCESSES, patience: PATIENCE })
const { simulator } = stack
for (const fault of [
  { kind: 'status', status: 500, probability: 0.03 },
  { kind: 'status', status: 503, probability: 0.03 },
  { kind: 'reset', when: 'before', probability: 0.02 },
  { kind: 'reset', when: 'after', probability: 0.02 },
  { kind: 'hang', when: 'after', probability: 0.01 },
] as const)
  simulator.addFault({ ...fault, count: null })

const clients = soakClients(stack, CLIENTS)
const victims: Victim[] = [...PROCESSES, 'postgres', ...(queue === 'redis' ? (['redis'] as const) : [])]
const killed = new Map<Victim, number>(victims.map((victim) => [victim, 0]))
const away = new Map<Victim, Promise<void>>()

const strike = async (victim: Victim) => {
  await stack.kill(victim)
  killed.set(victim, killed.get(victim)! + 1)
  await delay(Math.random() * AWAY_MS)
  await stack.restart(victim)
  away.delete(victim)
}

for (let kill = 1; kill <= Number(kills); kill += 1) {
  await delay(Math.random() * PAUSE_MS)
  const victim = victims[Math.floor(Math.random() * victims.length)]!
  await away.get(victim)
  // A kill counts only while something is under way.
  while ((await underWay(stack).catch(() => [])).length === 0) await delay(20)
  away.set(victim, strike(victim))
  if (kill % 25 === 0) process.stdout.write(`${kill} kills, ${JSON.stringify(clients.counts())}\n`)
}
await Promise.all(away.values())
simulator.clearFaults()
await clients.stop()
const quietFrom = performance.now()
const problems = await problemsOf(stack, clients.promised, QUIET_WITHIN_MS)
for (const { kind, what } of problems) process.stdout.write(`${kind}: ${what}\n`)
const count = (kind: Problem['kind']) => problems.filter((problem) => problem.kind === kind).length
const verdict = {
  queue,
  kills: [...killed.values()].reduce((sum, count) => sum + count, 0),
  killed: Object.fromEntries(killed),
  ...clients.counts(),
  longest_lag_ms: Math.round(lag.max / 1e6),
  quiet_after_s: Math.round((performance.now() - quietFrom) / 1000),
  lost: count('lost'),
  doubled: count('doubled'),
  stuck: count('stuck'),
}
process.stdout.write(`${JSON.stringify(verdict)}\n`)
await recordSoak({ ...verdict, commit: (await describeMachine()).commit, at: new Date().toISOString() })
process.exitCode = problems.length === 0 ? 0 : 1
