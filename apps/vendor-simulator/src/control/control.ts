import type { FaultInput, Faults } from '../faults.ts'
import type { Violation } from '../invariants.ts'
import type { JournalEntry, JournalFilter } from '../journal.ts'
import { Profile, type ProfileInput } from '../profile.ts'
import { applySettings, type Settings, type SettingsPatch } from '../settings.ts'
import { resetWorld, type Assignment, type World } from '../world.ts'
import { orphansOf, type Orphans } from './orphans.ts'
import { stateOf, type EndpointState } from './endpoint-state.ts'

/** How tests and people steer the simulator and look into it; also served under `/__sim`. */
export type Control = {
  summary: () => object
  /** Oldest first. */
  journal: (filter?: JournalFilter) => JournalEntry[]
  clearJournal: () => void
  /** The truth, past all caches. */
  endpoints: () => EndpointState[]
  endpoint: (name: string) => EndpointState | null
  /** Removes an endpoint behind the client's back. @returns whether there was one */
  vanish: (name: string) => boolean
  /** From now on that many workers are available, whatever the profile says; `null` = as the profile says. */
  setWorkers: (name: string, workers: number | null) => boolean
  /** @returns the fault's id */
  addFault: (fault: FaultInput) => string
  faults: () => ReturnType<Faults['list']>
  removeFault: (id: string) => boolean
  clearFaults: () => void
  profiles: () => Record<string, Profile>
  /** Adds a profile or replaces one. */
  defineProfile: (name: string, profile: ProfileInput) => void
  /** Endpoints whose name matches get this profile at their next create or update; the newest assignment wins. */
  assign: (assignment: Assignment) => void
  assignments: () => Assignment[]
  clearAssignments: () => void
  violations: () => Violation[]
  /** What is left at the vendor that belongs to none of these endpoint names. */
  orphans: (expected: readonly string[]) => Orphans
  /** Reports this value wherever it turns up in labels or metadata. */
  watchSecret: (value: string) => void
  settings: () => Settings
  configure: (patch: SettingsPatch) => Settings
  /** Moves the vendor's clock forward. */
  advance: (vendorMs: number) => void
  /** Back to an empty vendor; settings stay. */
  reset: (options?: { seed?: string | number }) => void
}

/** A request to the control API that cannot be met. */
export class ControlError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ControlError'
  }
}

const byName = ({ endpoints }: World, name: string) =>
  [...endpoints.values()].find((endpoint) => endpoint.name === name)

const knownProfile = ({ profiles }: World, name: string): string => {
  if (!profiles.has(name))
    throw new ControlError(`There is no profile ${name}; there are ${[...profiles.keys()].join(', ')}`)
  return name
}

const summary = (world: World) => ({
  seed: world.seed,
  time_scale: world.clock.scale,
  now_ms: Math.round(world.clock.now()),
  settings: world.settings,
  endpoints: world.endpoints.size,
  bundles: world.bundles.size,
  requests: world.requests,
  violations: world.invariants.violations().length,
  faults: world.faults.list().length,
})

const configure = (world: World, patch: SettingsPatch): Settings => {
  if (patch.default_profile !== undefined) knownProfile(world, patch.default_profile)
  return applySettings(world.settings, patch)
}

const endpointControl = (world: World): Pick<Control, 'endpoints' | 'endpoint' | 'vanish' | 'setWorkers'> => ({
  endpoints: () => [...world.endpoints.values()].map((endpoint) => stateOf(world, endpoint)),
  endpoint: (name) => {
    const endpoint = byName(world, name)
    return endpoint ? stateOf(world, endpoint) : null
  },
  vanish: (name) => world.endpoints.delete(byName(world, name)?.id ?? ''),
  setWorkers: (name, workers) => {
    const endpoint = byName(world, name)
    if (endpoint) endpoint.forcedWorkers = workers
    return endpoint !== undefined
  },
})

const profileControl = (
  world: World,
): Pick<Control, 'profiles' | 'defineProfile' | 'assign' | 'assignments' | 'clearAssignments'> => ({
  profiles: () => Object.fromEntries(world.profiles),
  defineProfile: (name, profile) => void world.profiles.set(name, Profile.parse(profile)),
  assign: ({ endpoint, profile }) =>
    void world.assignments.unshift({ endpoint, profile: knownProfile(world, profile) }),
  assignments: () => [...world.assignments],
  clearAssignments: () => {
    world.assignments = []
  },
})

export const createControl = (world: World): Control => ({
  ...endpointControl(world),
  ...profileControl(world),
  summary: () => summary(world),
  journal: (filter) => world.journal.entries(filter),
  clearJournal: () => world.journal.clear(),
  addFault: (fault) => world.faults.add(fault),
  faults: () => world.faults.list(),
  removeFault: (id) => world.faults.remove(id),
  clearFaults: () => world.faults.clear(),
  violations: () => world.invariants.violations(),
  orphans: (expected) => orphansOf(world, expected),
  watchSecret: (value) => world.invariants.watchSecret(value),
  settings: () => world.settings,
  configure: (patch) => configure(world, patch),
  advance: (vendorMs) => world.clock.advance(vendorMs),
  reset: ({ seed } = {}) => resetWorld(world, seed),
})
