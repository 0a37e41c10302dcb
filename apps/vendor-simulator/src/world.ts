import { builtInProfiles } from './built-in-profiles.ts'
import type { Bundle } from './model-bundles/bundle.ts'
import { createClock, type Clock } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { createFaults, type Faults } from './faults.ts'
import { createInvariants, type Invariants } from './invariants.ts'
import { createJournal, type Journal } from './journal.ts'
import type { Profile } from './profile.ts'
import { createRandom, type Random } from './random.ts'
import { createRecordCache, type RecordCache } from './record-cache.ts'
import { createRecords, type Records } from './records.ts'
import { applySettings, defaultSettings, type Settings, type SettingsPatch } from './settings.ts'

/** Endpoints whose name matches get a profile, the newest assignment first. */
export type Assignment = { endpoint: string; profile: string }

export type WorldOptions = SettingsPatch & {
  seed?: string | number
  /** Vendor milliseconds per millisecond of the machine; 0 = the clock moves only when told to. */
  timeScale?: number
  /** API key -> owner. Left out, every key is accepted and is its own owner. */
  keys?: Record<string, string>
  /** Requests kept in the journal. */
  journalLimit?: number
  /** What timestamps start from, in milliseconds since 1970. */
  epochMs?: number
}

/** Everything the simulated vendor knows. */
export type World = {
  clock: Clock
  keys: ReadonlyMap<string, string> | null
  settings: Settings
  seed: string
  random: Random
  endpoints: Map<string, Endpoint>
  bundles: Map<string, Bundle>
  cache: RecordCache
  records: Records
  profiles: Map<string, Profile>
  assignments: Assignment[]
  /** Per endpoint name, also across deletes: how many rollouts and deletes there were. */
  rollouts: Map<string, number>
  teardowns: Map<string, number>
  faults: Faults
  journal: Journal
  invariants: Invariants
  requests: number
  inFlight: number
  /** Aborted when the server closes: nothing hangs longer than that. */
  closing: AbortController
}

const DEFAULT_JOURNAL_LIMIT = 10_000

export const createWorld = (options: WorldOptions = {}): World => {
  const {
    seed = 1,
    timeScale = 1,
    keys,
    journalLimit = DEFAULT_JOURNAL_LIMIT,
    epochMs = Date.now(),
    ...settings
  } = options
  const clock = createClock({ scale: timeScale, epochMs })
  const endpoints = new Map<string, Endpoint>()
  const cache = createRecordCache(clock, () => world.settings.cache)
  const world: World = {
    clock,
    keys: keys ? new Map(Object.entries(keys)) : null,
    settings: applySettings(defaultSettings(), settings),
    seed: String(seed),
    random: createRandom(String(seed)),
    endpoints,
    bundles: new Map(),
    cache,
    records: createRecords(endpoints, cache, clock),
    profiles: builtInProfiles(),
    assignments: [],
    rollouts: new Map(),
    teardowns: new Map(),
    faults: createFaults(() => world.seed),
    journal: createJournal(journalLimit),
    invariants: createInvariants(),
    requests: 0,
    inFlight: 0,
    closing: new AbortController(),
  }
  return world
}

/** Forgets all endpoints, bundles, faults, profiles, assignments, the journal and the violations. */
export const resetWorld = (world: World, seed: string | number = world.seed): void => {
  for (const store of [world.endpoints, world.bundles, world.rollouts, world.teardowns]) store.clear()
  for (const store of [world.cache, world.faults, world.journal, world.invariants]) store.clear()
  world.profiles = builtInProfiles()
  world.assignments = []
  world.seed = String(seed)
  world.random = createRandom(world.seed)
  world.requests = 0
}
