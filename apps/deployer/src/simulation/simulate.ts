import { advance } from '../deployments/advance.ts'
import type { Limits } from '../deployments/deployment.ts'
import { seededRandom, virtualClock, type VirtualClock } from './clock.ts'
import type { Fate } from './endpoint.ts'
import { brokenInvariant } from './invariants.ts'
import { simulatedPorts, type Guards } from './ports.ts'
import { simulatedStore } from './store.ts'
import { simulatedTables } from './tables.ts'
import { simulatedVendor } from './vendor.ts'

export const ALL_GUARDS: Guards = {
  fence: true,
  settling: true,
  sweeper: true,
  stamp: true,
  adoption: true,
  stepEnd: true,
  lastCheck: true,
}

const LIMITS: Limits = {
  queueingMs: 60_000,
  deployingMs: 60_000,
  teardownMs: 60_000,
  cleanupMs: 900_000,
  settleMs: 30_000,
  pollMinMs: 1_000,
  pollMaxMs: 10_000,
  confirmMs: 1_000,
  retryMinMs: 1_000,
  retryMaxMs: 20_000,
  maxAttempts: 5,
}

const LEASE_MS = 12_000
const STEP_MS = 5_000
const STALE_MS = 15_000
const TRAVEL_MS = 100
/** A request that nobody waits for any more takes effect as late as the settling allows for: a cache may still hide it. */
const HANG_MS = LIMITS.settleMs - STEP_MS - STALE_MS - TRAVEL_MS
const REQUESTS_MS = 200_000
/** Kills, freezes and vendor trouble end here; from then on everything must converge. */
const CALM_MS = 150_000
const SLACK_MS = 120_000
const END_MS = 3_600_000

const drawFate = (random: () => number): Fate => ({
  refused: random() < 0.05,
  pendingMs: random() * 2_000,
  buildMs: random() < 0.15 ? random() * 120_000 : random() * 8_000,
  builds: random() > 0.15,
  workersMs: random() < 0.1 ? Infinity : random() * 8_000,
  flaps: random() < 0.05,
})

const fates = (random: () => number) => {
  const drawn = new Map<number, Fate>()
  return (generation: number): Fate => {
    const fate = drawn.get(generation) ?? drawFate(random)
    drawn.set(generation, fate)
    return fate
  }
}

const faults = (clock: VirtualClock, random: () => number) => async (): Promise<void> => {
  const trouble = clock.now() < CALM_MS ? random() : 1
  if (trouble < 0.012) await clock.crash()
  else if (trouble < 0.024) await clock.sleep(random() * 60_000)
}

/**
 * Plays one history: a model that is created, updated and deleted while workers are killed and frozen at any port,
 * doorbells are lost, doubled and delayed, and the vendor answers late, stale, wrongly or not at all.
 *
 * @returns which invariant broke, or `null`; the same for the same seed and guards, always
 */
export const simulate = async (seed: number, guards: Guards = ALL_GUARDS): Promise<string | null> => {
  const random = seededRandom(seed)
  const clock = virtualClock()
  const troubled = () => clock.now() < CALM_MS
  const fateOf = fates(random)
  const fault = faults(clock, random)
  const broken: string[] = []

  const sweep = (id: string): void => {
    const row = tables.rows.find((candidate) => candidate.id === id)!
    if (row.finished_at !== null || row.next_at > clock.now() || row.lease_until > clock.now()) return
    clock.spawn(() => advance(ports, id))
    clock.at(clock.now() + 2_000, () => sweep(id))
  }
  const onDue = (id: string, at: number): void => {
    if (guards.sweeper) clock.at(at + 1_000 + random() * 1_000, () => sweep(id))
  }
  const tables = simulatedTables(clock.now, onDue)
  const store = simulatedStore(tables, { now: clock.now, leaseMs: LEASE_MS, limits: LIMITS, guards, onDue })
  const { lastCheck } = guards
  const late = { staleMs: STALE_MS, hangMs: HANG_MS, lastCheck }
  const vendor = simulatedVendor({ clock, random, fateOf, fault, troubled, ...late })
  const onBroken = (invariant: string) => broken.push(invariant)
  const limits = { limits: LIMITS, stepMs: STEP_MS }
  const ports = simulatedPorts({ clock, random, troubled, fault, store, vendor, guards, onBroken, ...limits })

  const request = (kind: 'create' | 'update' | 'delete') => () => {
    if (tables.accept(kind)) clock.spawn(() => ports.ring({ account_id: '', id: tables.rows.at(-1)!.id }, 0))
  }
  clock.at(0, request('create'))
  const requests = Math.floor(random() * 5)
  for (let count = 0; count < requests; count += 1) {
    clock.at(random() * REQUESTS_MS, request(random() < 0.35 ? 'delete' : 'update'))
  }
  await clock.run(END_MS)

  const { creates, live } = vendor
  const bounds = { limits: LIMITS, calmMs: CALM_MS, slackMs: SLACK_MS }
  return broken[0] ?? brokenInvariant({ tables, live: live(), creates, fateOf, ...bounds })
}
