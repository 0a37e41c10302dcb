import { infraAt, type InfraState } from './lifecycle.ts'
import type { EndpointRecord } from './records.ts'
import type { World } from './world.ts'

/** As the vendor prints times: UTC with microseconds. */
export const timestamp = (wallMs: number): string => new Date(wallMs).toISOString().replace('Z', '000Z')

/**
 * What the vendor knows of the cluster: as of the last refresh, or as of now for what that refresh did not find.
 * `null` while there is nothing to find.
 */
export const observedInfra = ({ clock, endpoints, settings }: World, { id }: EndpointRecord): InfraState | null => {
  const endpoint = endpoints.get(id)
  if (!endpoint) return null
  const now = clock.now()
  const refreshMs = settings.cache.enabled ? settings.cache.infra_refresh_ms : 0
  const lastRefreshMs = refreshMs > 0 ? Math.floor(now / refreshMs) * refreshMs : now
  return infraAt(endpoint, lastRefreshMs) ?? infraAt(endpoint, now)
}

const deploymentState = ({ infra, available, unavailable }: InfraState) => ({
  min_workers: infra.min_workers,
  max_workers: infra.max_workers,
  per_worker: infra.per_worker,
  concurrent_requests_per_worker: infra.concurrent_requests_per_worker,
  forwarder_max_concurrency: infra.forwarder_max_concurrency,
  available_workers: available,
  unavailable_workers: unavailable,
})

const resourceState = ({ infra }: InfraState) => ({
  cpus: infra.cpus,
  gpus: infra.gpus,
  memory: infra.memory,
  gpu_type: infra.gpu_type,
  storage: infra.storage,
  nodes_per_worker: infra.nodes_per_worker,
  optimize_costs: infra.optimize_costs,
})

/** The body of GET `/v1/model-endpoints/{id}`, and `spec` in that of an LLM endpoint. */
export const endpointBody = (world: World, record: EndpointRecord) => {
  const state = observedInfra(world, record)
  const internalName = `launch-endpoint-id-${record.id.replace('_', '-')}`
  return {
    id: record.id,
    name: record.name,
    endpoint_type: record.endpoint_type,
    destination: record.everReady ? internalName : 'UNKNOWN',
    deployment_name: state ? internalName : null,
    metadata: record.metadata,
    bundle_name: world.bundles.get(record.bundle_id)?.name ?? '',
    status: record.status,
    ...(world.settings.server.status_reason ? { status_reason: record.status_reason } : {}),
    post_inference_hooks: state ? state.infra.post_inference_hooks : [],
    default_callback_url: state?.infra.default_callback_url ?? null,
    default_callback_auth: state?.infra.default_callback_auth ?? null,
    labels: state?.infra.labels ?? null,
    aws_role: state ? 'default' : null,
    results_s3_bucket: state ? 'default-bucket' : null,
    created_by: record.owner,
    created_at: timestamp(record.createdWallMs),
    last_updated_at: timestamp(record.updatedWallMs),
    deployment_state: state && deploymentState(state),
    resource_state: state && resourceState(state),
    num_queued_items: record.endpoint_type === 'async' && state ? 0 : null,
    public_inference: record.public_inference,
    task_expires_seconds: record.task_expires_seconds,
    queue_message_timeout_seconds: record.queue_message_timeout_seconds,
  }
}
