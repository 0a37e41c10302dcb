import type { Endpoint, Infra, Operation, RolloutOperation, Status } from './endpoint.ts'

/** Nothing here is stored: every state follows from the accepted operations and the time. */
type StatusEvent = { atMs: number; wallOffsetMs: number; operation: Operation; status: Status; reason?: string | null }

export type RowState = {
  status: Status
  status_reason: string | null
  updatedWallOffsetMs: number
  operation: Operation
  everReady: boolean
}

export type Serving = { workers: number; answering: boolean; operation: RolloutOperation | null }

const DELETE_FAILED = "Failed to delete the endpoint's infrastructure."

const targetWorkers = ({ infra, rollout }: RolloutOperation) => Math.max(infra.min_workers, rollout.workers.at_least)

const readyMs = ({ startedMs, rollout, fails }: RolloutOperation): number => {
  const { pending_ms, in_progress_ms } = rollout
  return fails || pending_ms === null || in_progress_ms === null ? Infinity : startedMs + pending_ms + in_progress_ms
}

const eventsOf = (operation: Operation): StatusEvent[] => {
  const event = (offsetMs: number, status: Status, reason?: string | null): StatusEvent => ({
    atMs: operation.startedMs + offsetMs,
    wallOffsetMs: offsetMs,
    operation,
    status,
    ...(reason === undefined ? {} : { reason }),
  })
  if (operation.kind === 'delete') {
    const { fails, durationMs } = operation
    return [event(0, 'DELETE_IN_PROGRESS'), ...(fails ? [event(durationMs, 'UPDATE_FAILED', DELETE_FAILED)] : [])]
  }
  const { pending_ms, in_progress_ms, status_reason } = operation.rollout
  const events = [event(0, 'UPDATE_PENDING')]
  if (pending_ms === null) return events
  events.push(event(pending_ms, 'UPDATE_IN_PROGRESS'))
  if (in_progress_ms === null) return events
  const endMs = pending_ms + in_progress_ms
  events.push(operation.fails ? event(endMs, 'UPDATE_FAILED', status_reason) : event(endMs, 'READY', null))
  return events
}

/**
 * The row of an endpoint at a moment. Overlapping rollouts race as they do at the vendor: each goes on writing its own
 * status over the other's. A reason stays until the next READY.
 */
export const rowAt = ({ operations }: Endpoint, atMs: number): RowState => {
  const past = operations
    .flatMap(eventsOf)
    .filter((event) => event.atMs <= atMs)
    .toSorted((one, other) => one.atMs - other.atMs)
  const last = past.at(-1)
  if (!last) throw new Error('An endpoint has no state before it was created')
  return {
    status: last.status,
    status_reason: past.findLast(({ reason }) => reason !== undefined)?.reason ?? null,
    updatedWallOffsetMs: last.wallOffsetMs,
    operation: last.operation,
    everReady: past.some(({ status }) => status === 'READY'),
  }
}

const readyRollouts = ({ operations }: Endpoint, atMs: number): RolloutOperation[] =>
  operations
    .filter((operation) => operation.kind !== 'delete')
    .filter((operation) => readyMs(operation) <= atMs)
    .toSorted((one, other) => readyMs(one) - readyMs(other))

const ownWorkers = (operation: RolloutOperation, atMs: number): number => {
  const { after_ms, one_by_one_ms, flap_ms, lost_after_ms } = operation.rollout.workers
  const sinceFirstMs = after_ms === null ? -1 : atMs - readyMs(operation) - after_ms
  if (sinceFirstMs < 0 || (lost_after_ms !== null && sinceFirstMs >= lost_after_ms)) return 0
  if (flap_ms > 0 && Math.floor(sinceFirstMs / flap_ms) % 2 === 1) return 0
  const target = targetWorkers(operation)
  return one_by_one_ms > 0 ? Math.min(target, 1 + Math.floor(sinceFirstMs / one_by_one_ms)) : target
}

const servingOf = (rollouts: RolloutOperation[], atMs: number): Serving => {
  const operation = rollouts.at(-1)
  if (!operation) return { workers: 0, answering: false, operation: null }
  const workers = ownWorkers(operation, atMs)
  const own = { workers, answering: workers > 0 && operation.rollout.workers.serves, operation }
  if (workers >= targetWorkers(operation) || operation.rollout.workers.replaces_old) return own
  const old = servingOf(rollouts.slice(0, -1), atMs)
  return old.workers > workers ? old : own
}

/** Which version serves at a moment, with how many workers: the old one until the new one is up. */
export const servingAt = (endpoint: Endpoint, atMs: number): Serving => {
  const serving = servingOf(readyRollouts(endpoint, atMs), atMs)
  const { forcedWorkers } = endpoint
  return forcedWorkers === null ? serving : { ...serving, workers: forcedWorkers, answering: forcedWorkers > 0 }
}

export type InfraState = { infra: Infra; available: number; unavailable: number }

/** What the cluster shows of an endpoint at a moment; `null` until a rollout got that far. */
export const infraAt = (endpoint: Endpoint, atMs: number): InfraState | null => {
  const rollout = readyRollouts(endpoint, atMs).findLast(
    (rollout) => readyMs(rollout) + rollout.rollout.infra_delay_ms <= atMs,
  )
  if (!rollout) return null
  const { workers } = servingAt(endpoint, atMs)
  return { infra: rollout.infra, available: workers, unavailable: Math.max(0, targetWorkers(rollout) - workers) }
}

/** Whether a rollout or a teardown is under way. */
export const isBusy = (endpoint: Endpoint, atMs: number): boolean =>
  ['UPDATE_PENDING', 'UPDATE_IN_PROGRESS', 'DELETE_IN_PROGRESS'].includes(rowAt(endpoint, atMs).status)
