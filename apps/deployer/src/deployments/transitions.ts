import type { ActivePhase, ModelAvailability, ReasonCode } from '@keelson/database/platform'
import { VendorError } from '../vendors/vendor-error.ts'
import type { Endpoint } from '../vendors/vendor.ts'
import { tearsDown, type Change, type Claim, type Limits } from './deployment.ts'
import { progressMessage, reasonMessage, timeoutMessage } from './messages.ts'
import { pollMs, retryMs } from './pace.ts'

/** What an endpoint offers to callers right now. */
export const availabilityOf = (endpoint: Endpoint | null): ModelAvailability => {
  if (endpoint === null) return 'unavailable'
  const { state, workers } = endpoint
  if (workers === null) return 'unknown'
  if (workers.available > 0) return 'available'
  if (workers.wanted > 0) return 'unavailable'
  return state === 'ready' ? 'available' : 'unknown'
}

/** Enough workers; and, where old ones may still be counted, none that does not come up. */
const isServing = ({ kind }: Claim, { workers }: Endpoint): boolean =>
  workers !== null &&
  workers.available >= workers.wanted &&
  (kind === 'create' || workers.unavailable === 0 || workers.wanted === 0)

const isLate = ({ kind, leftMs, queuedMs }: Claim, { queueingMs, teardownMs, cleanupMs }: Limits): boolean => {
  if (kind === 'delete') return queuedMs >= teardownMs
  if (kind === 'cleanup') return queuedMs >= cleanupMs
  return leftMs === null ? queuedMs >= queueingMs : leftMs <= 0
}

const CALM = {
  reason_code: null,
  status_message: null,
  attempts: 0,
  accepted: false,
  uncertain: false,
  waitMs: null,
  model: 'unchanged',
  cleanup: false,
} as const

/** Still under way: the model tells how far, and the deployment is looked at again in a while. */
const goesOn = (
  claim: Claim,
  phase: ActivePhase,
  waitMs: number,
  status_message: string,
  more: Partial<Change> = {},
): Change => ({
  ...CALM,
  phase,
  status_message,
  waitMs: Math.ceil(claim.leftMs !== null && claim.leftMs > 0 ? Math.min(waitMs, claim.leftMs) : waitMs),
  model: tearsDown(claim) ? 'unchanged' : { status_reason: status_message },
  ...more,
})

/** `deploying` -> `ready`. */
const succeeds = (): Change => ({
  ...CALM,
  phase: 'succeeded',
  model: { status: 'ready', status_reason: null, model_availability: 'available' },
})

/**
 * `deploying` -> `failed` or `deployment_timeout`. A first deployment leaves nothing behind; after an update, what still
 * serves is left alone and what serves nothing is removed.
 *
 * @param endpoint what was last seen; left out when nothing was, and then the model's availability stays
 */
const ends = (
  claim: Claim,
  phase: 'failed' | 'timed_out',
  reason_code: ReasonCode,
  status_message: string,
  endpoint?: Endpoint | null,
): Change => {
  const seen = endpoint === undefined ? claim.model_availability : availabilityOf(endpoint)
  const model_availability = claim.kind === 'create' ? 'unavailable' : seen
  const status = phase === 'failed' ? 'failed' : 'deployment_timeout'
  return {
    ...CALM,
    phase,
    reason_code,
    status_message,
    model: { status, status_reason: status_message, model_availability },
    cleanup: model_availability === 'unavailable',
  }
}

/**
 * The teardown ends without the endpoint being gone: the model stays and can be deleted again. Once anything may have
 * been removed it is not ready any more, and what is left is removed as after a failed deployment.
 */
const givesUp = (claim: Claim, reason_code: ReasonCode, status_message: string): Change => {
  const phase = reason_code === 'teardown_timeout' ? 'timed_out' : 'failed'
  const given = { ...CALM, phase, reason_code, status_message } as const
  if (claim.kind === 'cleanup') return given
  if (claim.phase === 'queued' && !claim.mayHaveActed) return { ...given, model: { model_availability: 'unknown' } }
  const model = { status: 'failed', status_reason: status_message, model_availability: 'unavailable' } as const
  return { ...given, model, cleanup: true }
}

const TIMEOUT_REASONS: Record<ActivePhase, ReasonCode> = {
  queued: 'queue_timeout',
  submitted: 'build_timeout',
  building: 'build_timeout',
  starting: 'no_workers',
  verifying: 'no_workers',
  tearing_down: 'teardown_timeout',
}

const timesOut = (claim: Claim, endpoint?: Endpoint | null): Change => {
  const reason_code = tearsDown(claim) ? 'teardown_timeout' : TIMEOUT_REASONS[claim.phase]
  const status_message = timeoutMessage(reason_code, claim.status_message)
  if (tearsDown(claim)) return givesUp(claim, reason_code, status_message)
  return ends(claim, 'timed_out', reason_code, status_message, endpoint)
}

/** A good reading counts only together with the next one. */
const unverified = (phase: ActivePhase): ActivePhase => (phase === 'verifying' ? 'starting' : phase)

/** The vendor does not show this generation: not accepted yet, read from a cache, removed, or replaced by somebody else. */
const notOurs = (claim: Claim, endpoint: Endpoint | null, limits: Limits): Change => {
  if (isLate(claim, limits)) return timesOut(claim, endpoint)
  const phase = unverified(claim.phase)
  const waiting = goesOn(claim, phase, pollMs(claim, limits), claim.status_message ?? progressMessage(phase, null))
  if (claim.acceptedMs === null || claim.acceptedMs < limits.settleMs) return waiting
  const reason_code = endpoint === null ? 'endpoint_missing' : 'endpoint_overwritten'
  return claim.reason_code === reason_code
    ? ends(claim, 'failed', reason_code, reasonMessage(reason_code), endpoint)
    : { ...waiting, reason_code }
}

/** A create or an update, after the vendor was looked at. */
const deploys = (claim: Claim, endpoint: Endpoint | null, limits: Limits): Change => {
  if (endpoint === null || endpoint.generation !== claim.generation) return notOurs(claim, endpoint, limits)
  const watch = (phase: ActivePhase, waitMs: number) =>
    goesOn(claim, phase, waitMs, progressMessage(phase, endpoint.workers), { accepted: true })
  const serving = endpoint.state === 'ready' && isServing(claim, endpoint)
  if (endpoint.state === 'failed')
    return ends(claim, 'failed', 'build_failed', reasonMessage('build_failed', endpoint.reason), endpoint)
  if (serving && (claim.phase === 'verifying' || endpoint.workers?.wanted === 0)) return succeeds()
  if (serving) return watch('verifying', limits.confirmMs)
  if (claim.acceptedMs !== null && isLate(claim, limits)) return timesOut(claim, endpoint)
  if (endpoint.state === 'ready') return watch('starting', pollMs(claim, limits))
  return watch(endpoint.state === 'building' ? 'building' : 'submitted', pollMs(claim, limits))
}

/** A delete or a cleanup, after the vendor was asked to remove the endpoint. */
const removes = (claim: Claim, endpoint: Endpoint | null, limits: Limits): Change => {
  if (endpoint === null && claim.settlesInMs === 0) {
    return { ...CALM, phase: 'succeeded', model: claim.kind === 'delete' ? 'removed' : 'unchanged' }
  }
  if (isLate(claim, limits)) return timesOut({ ...claim, mayHaveActed: true })
  const phase = endpoint === null ? claim.phase : 'tearing_down'
  const waitMs = endpoint === null ? Math.min(claim.settlesInMs, limits.pollMaxMs) : pollMs(claim, limits)
  return goesOn(claim, phase, waitMs, progressMessage('tearing_down', null))
}

/** The step failed: end when another try cannot help or comes too late, else try again, ever more seldom. */
const fails = (held: Claim, error: VendorError, limits: Limits, random: number): Change => {
  const claim = { ...held, mayHaveActed: held.mayHaveActed || error.uncertain }
  const attempts = claim.attempts + 1
  const mayBePermanent = error.reason === 'vendor_error' || error.reason === 'internal_error'
  const hopeless = !error.retryable || (mayBePermanent && attempts >= limits.maxAttempts)
  const status_message = reasonMessage(error.reason, error.detail)
  if (hopeless && claim.kind === 'delete') return givesUp(claim, error.reason, status_message)
  if (hopeless && claim.kind !== 'cleanup' && claim.acceptedMs === null) {
    return ends(claim, 'failed', error.reason, status_message)
  }
  if (isLate(claim, limits)) return timesOut({ ...claim, status_message })
  const waitMs = Math.max(retryMs(attempts, limits, random), error.retryAfterMs)
  return goesOn(claim, unverified(claim.phase), waitMs, status_message, { reason_code: error.reason, attempts })
}

/**
 * The state machine: what one look at the vendor makes of a deployment.
 *
 * @param seen the endpoint, `null` when it is not there, or why there is no telling
 */
export const transition = (
  claim: Claim,
  seen: Endpoint | null | VendorError,
  limits: Limits,
  random: number,
): Change => {
  if (seen instanceof VendorError) return { ...fails(claim, seen, limits, random), uncertain: seen.uncertain }
  return tearsDown(claim) ? removes(claim, seen, limits) : deploys(claim, seen, limits)
}
