import type { DeploymentStore } from '../deployments/advance.ts'
import { tearsDown, type Change, type Claim, type Limits } from '../deployments/deployment.ts'
import type { Model, Row, SimulatedTables } from './tables.ts'

/** Guards that a negative control switches off; with any of them gone the simulation must find a broken invariant. */
export type StoreGuards = { fence: boolean; settling: boolean }

export type SimulatedStoreOptions = {
  now: () => number
  leaseMs: number
  limits: Limits
  guards: StoreGuards
  /** A deployment becomes due at this time if nobody holds it then. */
  onDue: (id: string, at: number) => void
}

const latest = (times: (number | null)[]): number => Math.max(...times.map((time) => time ?? -Infinity))

const settledAt = (held: Row, rows: readonly Row[], settleMs: number): number => {
  const relevant = rows.filter((other) => !tearsDown(held) || !tearsDown(other))
  const distrustful = tearsDown(held) && held.phase === 'queued'
  const writes = relevant.flatMap(({ unsettled_at, claimed_at }) => [unsettled_at, claimed_at])
  const acceptances = distrustful ? relevant.map(({ accepted_at }) => accepted_at) : []
  return latest([...writes, ...acceptances]) + settleMs
}

const heldRow = (row: Row, { model_availability }: Model, now: number, settlesInMs: number): Claim => ({
  ...row,
  fence: row.fence + 1,
  phase: row.phase as Claim['phase'],
  account_id: 'acct',
  model_id: 'model',
  model_vendor: 'launch',
  configuration: '{}',
  traceparent: null,
  mayHaveActed: (row.unsettled_at ?? row.claimed_at) !== null,
  model_availability,
  queuedMs: now - row.created_at,
  acceptedMs: row.accepted_at === null ? null : now - row.accepted_at,
  leftMs: row.deadline === null ? null : row.deadline - now,
  settlesInMs,
})

/** The Postgres store's rules over tables in memory. */
export const simulatedStore = (tables: SimulatedTables, options: SimulatedStoreOptions): DeploymentStore => {
  const { rows, model, statuses } = tables
  const { now, leaseMs, limits, guards, onDue } = options

  const writeModel = (row: Row, change: Change): void => {
    if (change.model === 'removed') model.removed = true
    if (typeof change.model === 'string' || row.generation !== model.generation) return
    if ((model.status === 'deploying') === tearsDown(row)) return
    const { status = model.status, model_availability = model.model_availability } = change.model
    if (status !== model.status) statuses.push(status)
    Object.assign(model, { status, model_availability })
  }

  return {
    claim: async (id) => {
      const row = rows.find((candidate) => candidate.id === id)
      if (!row || row.finished_at !== null || row.next_at > now() || row.lease_until > now()) return null
      const settlesInMs = guards.settling ? Math.max(0, settledAt(row, rows, limits.settleMs) - now()) : 0
      const held = heldRow(row, model, now(), settlesInMs)
      Object.assign(row, { fence: held.fence, lease_until: now() + leaseMs })
      Object.assign(row, { unsettled_at: row.claimed_at ?? row.unsettled_at, claimed_at: now() })
      onDue(id, row.lease_until)
      return held
    },

    record: async (claim, change) => {
      const row = rows.find(({ id }) => id === claim.id)!
      if (guards.fence && (row.finished_at !== null || row.fence !== claim.fence)) return false
      const { phase, reason_code, status_message, attempts, waitMs } = change
      Object.assign(row, {
        phase,
        reason_code,
        status_message,
        attempts,
        lease_until: 0,
        next_at: now() + (waitMs ?? 0),
      })
      if (change.uncertain) row.unsettled_at = row.claimed_at
      row.claimed_at = null
      if (change.accepted) row.accepted_at ??= now()
      if (change.accepted) row.deadline ??= now() + limits.deployingMs
      if (waitMs === null) row.finished_at = now()
      else onDue(row.id, row.next_at)
      writeModel(row, change)
      if (change.cleanup) tables.insert('cleanup')
      return true
    },
  }
}
