import { generationOf, latestRollout, type Endpoint, type Status } from '../endpoint.ts'
import { infraAt, rowAt, servingAt } from '../lifecycle.ts'
import type { World } from '../world.ts'

/** An endpoint as it truly is at this moment. */
export type EndpointState = {
  id: string
  name: string
  flavour: Endpoint['flavour']
  owner: string
  status: Status
  status_reason: string | null
  /** The stamp of the version asked for last. */
  generation: string | null
  /** The stamp of the version that answers requests; `null` when none does, or it carries no stamp. */
  serving_generation: string | null
  available_workers: number
  profile: string
  metadata: Record<string, unknown>
  labels: Record<string, string>
  bundle_id: string
  operations: { kind: string; at_ms: number; generation: string | null; profile: string | null }[]
}

export const stateOf = ({ clock }: World, endpoint: Endpoint): EndpointState => {
  const now = clock.now()
  const { status, status_reason } = rowAt(endpoint, now)
  const { row, infra, generation, profile } = latestRollout(endpoint)
  const serving = servingAt(endpoint, now)
  return {
    id: endpoint.id,
    name: endpoint.name,
    flavour: endpoint.flavour,
    owner: endpoint.owner,
    status,
    status_reason,
    generation,
    serving_generation: serving.answering ? generationOf(serving.operation?.row.metadata) : null,
    available_workers: infraAt(endpoint, now)?.available ?? 0,
    profile,
    metadata: row.metadata,
    labels: infra.labels,
    bundle_id: row.bundle_id,
    operations: endpoint.operations.map((operation) => ({
      kind: operation.kind,
      at_ms: Math.round(operation.startedMs),
      generation: operation.kind === 'delete' ? null : operation.generation,
      profile: operation.kind === 'delete' ? null : operation.profile,
    })),
  }
}
