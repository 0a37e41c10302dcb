import type { Endpoint } from '../vendors/vendor.ts'
import type { Limits } from '../deployments/deployment.ts'
import type { Fate } from './endpoint.ts'
import type { Model, SimulatedTables } from './tables.ts'

export type Outcome = {
  tables: SimulatedTables
  /** The endpoint that is really there. */
  live: Endpoint | null
  /** The generations the vendor created an endpoint for. */
  creates: readonly number[]
  limits: Limits
  /** When the trouble ended, and how long everything may take to converge afterwards. */
  calmMs: number
  slackMs: number
  /** What the vendor really makes of a generation. */
  fateOf: (generation: number) => Fate
}

/** A deletion that was given up half-way leaves a model failed that was not deploying. */
const legalPath = (statuses: readonly string[]): boolean =>
  statuses.every(
    (status, index) =>
      (status === 'deploying') !== (statuses[index - 1] === 'deploying') || (index > 0 && status === 'failed'),
  )

const matchesModel = ({ status, model_availability, removed, generation }: Model, live: Endpoint | null) => {
  if (removed) return live === null
  if (status === 'ready') return live?.generation === generation && live.state === 'ready'
  return model_availability !== 'unavailable' || live === null
}

/** The first promise a quiet world breaks, in words, or `null`. */
export const brokenInvariant = (outcome: Outcome): string | null => {
  const { tables, live, creates, limits, calmMs, slackMs, fateOf } = outcome
  const { model, rows, statuses } = tables
  const stuck = rows.find(({ finished_at }) => finished_at === null)
  if (stuck) return `${stuck.kind} of generation ${stuck.generation} never ended`
  if (model.status === 'deploying') return 'the model is deploying though no deployment is under way'
  if (!legalPath(statuses)) return `the status took an illegal path: ${statuses.join(' -> ')}`
  if (!matchesModel(model, live)) {
    return `the model is ${model.removed ? 'removed' : `${model.status} and ${model.model_availability}`} while the vendor has ${JSON.stringify(live)}`
  }
  if (new Set(creates).size < creates.length)
    return `an endpoint was created twice for one generation: ${creates.join(', ')}`
  const lie = rows.find(({ reason_code, generation }) => {
    if (reason_code === 'vendor_rejected') return !fateOf(generation).refused
    return reason_code === 'build_failed' && fateOf(generation).builds
  })
  if (lie) return `${lie.kind} of generation ${lie.generation} failed for a reason that is not so: ${lie.reason_code}`
  for (const { kind, generation, created_at, finished_at } of rows) {
    const allowed =
      kind === 'cleanup'
        ? limits.cleanupMs
        : kind === 'delete'
          ? limits.teardownMs
          : limits.queueingMs + limits.deployingMs
    if (finished_at! > Math.max(created_at + allowed, calmMs) + slackMs)
      return `${kind} of generation ${generation} ended late`
  }
  return null
}
