import type { DeployedVendor } from '@keelson/database/platform'
import type { Step } from '../vendors/step.ts'
import { VendorError } from '../vendors/vendor-error.ts'
import type { Endpoint, Vendor } from '../vendors/vendor.ts'
import { tearsDown, type Change, type Claim, type Limits } from './deployment.ts'
import { transition } from './transitions.ts'

export type DeploymentStore = {
  /** Takes a due deployment that nobody holds, or `null`. */
  claim: (id: string) => Promise<Claim | null>
  /** Writes the change unless somebody else has claimed the deployment since, or it has ended. */
  record: (claim: Claim, change: Change) => Promise<boolean>
}

/** Everything outside: the store is also the clock, the doorbell may lose, double and delay, the vendor may do anything. */
export type Ports = {
  store: DeploymentStore
  vendors: Readonly<Record<DeployedVendor, Vendor>>
  ring: (claim: Pick<Claim, 'account_id' | 'id'>, delayMs: number) => Promise<void>
  startStep: () => Step
  /** From 0 up to 1. */
  random: () => number
  limits: Limits
}

export type Advance =
  /** Not due, held by somebody else, or ended. */
  | { result: 'idle' }
  /** Somebody else took over; nothing was written. */
  | { result: 'lost'; claim: Claim }
  | { result: 'advanced'; claim: Claim; change: Change; error: VendorError | null }

/**
 * Which of the vendor's operations moves a deployment on. While an earlier write may still take effect, nothing new is
 * written over it; once the vendor has accepted, or the time for that is over, it is only watched.
 */
const operation = (claim: Claim, limits: Limits): 'ensure' | 'observe' | 'destroy' => {
  if (tearsDown(claim)) return 'destroy'
  if (claim.acceptedMs !== null || claim.settlesInMs > 0 || claim.queuedMs >= limits.queueingMs) return 'observe'
  return 'ensure'
}

const look = async (ports: Ports, claim: Claim, step: Step): Promise<Endpoint | null | VendorError> => {
  try {
    return await ports.vendors[claim.model_vendor][operation(claim, ports.limits)](claim, step)
  } catch (error) {
    if (error instanceof VendorError) return error
    return new VendorError('internal_error', { retryable: true, uncertain: true, cause: error })
  }
}

/**
 * Advances a deployment by one step: claim it, take one short vendor step, write what became of it. Safe to call from
 * anywhere, at any time, and as often as anybody likes: the row decides, and only the latest claim can write.
 */
export const advance = async (ports: Ports, id: string): Promise<Advance> => {
  // The step begins before the lease does, so it is over before the lease can be.
  const step = ports.startStep()
  const claim = await ports.store.claim(id)
  if (claim === null) return { result: 'idle' }
  const seen = await look(ports, claim, step)
  const change = transition(claim, seen, ports.limits, ports.random())
  if (!(await ports.store.record(claim, change))) return { result: 'lost', claim }
  if (change.waitMs !== null) await ports.ring(claim, change.waitMs)
  return { result: 'advanced', claim, change, error: seen instanceof VendorError ? seen : null }
}
