import type { Endpoint } from '../vendors/vendor.ts'

/** What happens to a configuration at the vendor. */
export type Fate = {
  refused: boolean
  pendingMs: number
  buildMs: number
  builds: boolean
  /** After the build; `Infinity` when the workers never come up. */
  workersMs: number
  /** Every other second the workers are down. */
  flaps: boolean
}

/** An endpoint since its last write. */
export type Version = { generation: number; since: number; oldWorkers: boolean }

const WANTED = 2

const workersAt = (age: number, { builds, workersMs, flaps }: Fate, oldWorkers: boolean): Endpoint['workers'] => {
  const up = builds && age >= workersMs && !(flaps && Math.floor(age / 1000) % 2 === 0)
  return { available: up || oldWorkers ? WANTED : 0, unavailable: up ? 0 : 1, wanted: WANTED }
}

/** What the vendor shows of an endpoint at a time. */
export const endpointAt = ({ generation, since, oldWorkers }: Version, fate: Fate, at: number): Endpoint => {
  const age = at - since
  const builtFor = age - fate.pendingMs - fate.buildMs
  const ended = fate.builds ? 'ready' : 'failed'
  const state = age < fate.pendingMs ? 'pending' : builtFor < 0 ? 'building' : ended
  const reason = state === 'failed' ? 'no such image' : null
  return { state, generation, reason, workers: workersAt(builtFor, fate, oldWorkers) }
}
