import type { Rollout } from './profile.ts'

export const STATUSES = [
  'UPDATE_PENDING',
  'UPDATE_IN_PROGRESS',
  'READY',
  'UPDATE_FAILED',
  'DELETE_IN_PROGRESS',
] as const
export type Status = (typeof STATUSES)[number]

export const ENDPOINT_TYPES = ['async', 'sync', 'streaming'] as const
export type EndpointType = (typeof ENDPOINT_TYPES)[number]

export type JsonObject = Record<string, unknown>

/** What the vendor keeps in its database row of an endpoint; written when a request is accepted. */
export type Row = {
  bundle_id: string
  metadata: JsonObject
  public_inference: boolean
  task_expires_seconds: number | null
  queue_message_timeout_seconds: number | null
}

/** What the vendor reads back from the cluster; it changes when a rollout turns READY. */
export type Infra = {
  labels: Record<string, string>
  cpus: string | number
  gpus: number
  gpu_type: string | null
  memory: string | number
  storage: string | number | null
  nodes_per_worker: number
  optimize_costs: boolean | null
  min_workers: number
  max_workers: number
  per_worker: number
  concurrent_requests_per_worker: number
  forwarder_max_concurrency: number | null
  prewarm: boolean
  high_priority: boolean
  post_inference_hooks: string[] | null
  default_callback_url: string | null
  default_callback_auth: unknown
}

/** One accepted create or update. */
export type RolloutOperation = {
  kind: 'create' | 'update'
  task_id: string
  /** The stamp in the metadata that says which version this is. */
  generation: string | null
  profile: string
  startedMs: number
  startedWallMs: number
  rollout: Rollout
  fails: boolean
  row: Row
  infra: Infra
}

/** One accepted delete. */
export type TeardownOperation = {
  kind: 'delete'
  startedMs: number
  startedWallMs: number
  durationMs: number
  fails: boolean
}

export type Operation = RolloutOperation | TeardownOperation

export type Endpoint = {
  id: string
  name: string
  /** LLM endpoints are found by name on the LLM routes; all are found by id on the others. */
  flavour: 'llm' | 'generic'
  owner: string
  endpoint_type: EndpointType
  createdWallMs: number
  operations: Operation[]
  /** Set by the control API: that many workers, whatever the profile says. */
  forcedWorkers: number | null
}

const OPERATIONS_KEPT = 50

/** Of many, old failures are forgotten first: what serves must not be. */
export const addOperation = ({ operations }: Endpoint, operation: Operation): void => {
  operations.push(operation)
  const alike = operations.filter(({ kind }) => (kind === 'delete') === (operation.kind === 'delete'))
  const oldest = alike.find(({ fails }) => fails) ?? alike[0]
  if (alike.length > OPERATIONS_KEPT && oldest) operations.splice(operations.indexOf(oldest), 1)
}

export const latestRollout = ({ operations }: Endpoint): RolloutOperation => {
  const operation = operations.findLast((operation) => operation.kind !== 'delete')
  if (!operation) throw new Error('An endpoint has at least one rollout')
  return operation
}

/** The metadata value under a key that ends in `generation`: the client's stamp of the version it asked for. */
export const generationOf = (metadata: unknown): string | null => {
  if (typeof metadata !== 'object' || metadata === null) return null
  const entry = Object.entries(metadata).find(([key]) => key.endsWith('generation'))
  return typeof entry?.[1] === 'string' || typeof entry?.[1] === 'number' ? String(entry[1]) : null
}
