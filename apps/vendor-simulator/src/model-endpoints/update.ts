import type { Call } from '../call.ts'
import { observedInfra } from '../endpoint-view.ts'
import type { Infra, Row } from '../endpoint.ts'
import type { EndpointRecord } from '../records.ts'
import { checkResources } from '../resource-rules.ts'
import { checkBillingTags, checkConcurrency, checkHooks, checkLabels, checkMetadata, checkWorkers } from '../rules.ts'
import { parseBody } from '../validation-detail.ts'
import { VendorError } from '../vendor-error.ts'
import { liveEndpoint, updateEndpoint } from '../write-endpoint.ts'
import { UpdateEndpoint } from './schema.ts'

const NOT_FOUND = 'The specified model endpoint or model bundle was not found.'

/** The values of `changes` that are there, over those of `base`. */
export const overlay = <T extends object>(base: T, changes: { [Key in keyof T]?: T[Key] | null | undefined }): T => ({
  ...base,
  ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null && value !== undefined)),
})

/** What an update leaves unsaid of the row comes from the row as the cache has it. */
export const rowOf = (record: EndpointRecord): Row => ({
  bundle_id: record.bundle_id,
  metadata: record.metadata,
  public_inference: record.public_inference,
  task_expires_seconds: record.task_expires_seconds,
  queue_message_timeout_seconds: record.queue_message_timeout_seconds,
})

const checkBundle = ({ world, owner }: Call, id: string | null): void => {
  if (id !== null && world.bundles.get(id)?.owner !== owner) throw new VendorError(404, NOT_FOUND)
}

/** @param find looks the endpoint up, once the body has been found good */
export const updateGenericEndpoint = (call: Call, find: (notFound: string) => EndpointRecord) => {
  const body = parseBody(UpdateEndpoint, call.json())
  if (body.labels) checkLabels(body.labels)
  checkBillingTags(body.billing_tags)
  checkHooks(body.post_inference_hooks, true)
  const record = find(NOT_FOUND)
  checkBundle(call, body.model_bundle_id)
  const state = observedInfra(call.world, record)
  if (!state) throw new VendorError(500, 'Endpoint infra state not found, try again later.')
  const { model_bundle_id, metadata, public_inference, billing_tags: _, ...rest } = body
  const { task_expires_seconds, queue_message_timeout_seconds, ...changes } = rest
  const infra: Infra = overlay(state.infra, changes)
  checkResources(infra)
  checkWorkers(body, record.endpoint_type, call.world.settings.server.scale_from_zero)
  checkConcurrency(body.concurrent_requests_per_worker, record.endpoint_type)
  if (metadata) checkMetadata(metadata, ['_CONVERTED_FROM_ARTIFACT_LIKE'])
  const row: Row = overlay(rowOf(record), {
    bundle_id: model_bundle_id,
    metadata,
    public_inference,
    task_expires_seconds,
    queue_message_timeout_seconds,
  })
  return updateEndpoint(call, liveEndpoint(call, record, NOT_FOUND), { row, infra })
}
