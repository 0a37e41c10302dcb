import type { Handler } from '../call.ts'
import { isStreaming, type Bundle } from '../model-bundles/bundle.ts'
import { checkResources } from '../resource-rules.ts'
import {
  checkBillingTags,
  checkConcurrency,
  checkHooks,
  checkLabels,
  checkMetadata,
  checkWorkers,
  defaultConcurrency,
} from '../rules.ts'
import { parseBody } from '../validation-detail.ts'
import { VendorError } from '../vendor-error.ts'
import { createEndpoint } from '../write-endpoint.ts'
import { CreateEndpoint } from './schema.ts'

const checkMultinode = (bundle: Bundle, body: CreateEndpoint): void => {
  if (body.nodes_per_worker === 1) return
  if (!bundle.flavor.worker_command || !bundle.flavor.worker_env)
    throw new VendorError(
      400,
      `Bundle ${bundle.name} is not multinode compatible. It must be a RunnableImage and have worker_command and worker_args set.`,
    )
  if (body.endpoint_type !== 'streaming' || body.gpu_type === null || body.gpus === 0)
    throw new VendorError(
      400,
      'Endpoint is not multinode compatible. Only streaming GPU endpoints can be multinode compatible.',
    )
}

const checkStreaming = (bundle: Bundle, { endpoint_type, per_worker }: CreateEndpoint): void => {
  const streams = isStreaming(bundle)
  if (endpoint_type === 'streaming' && !streams)
    throw new VendorError(400, 'Cannot create a streaming endpoint for a non-streaming model bundle.')
  if (endpoint_type === 'streaming' && per_worker !== 1)
    throw new VendorError(400, 'Cannot create a streaming endpoint with per_worker != 1.')
  if (endpoint_type !== 'streaming' && streams && bundle.flavor.command?.length === 0)
    throw new VendorError(400, 'Cannot create a non-streaming endpoint with no bundle command.')
}

export const createGenericEndpoint: Handler = (call) => {
  const body = parseBody(CreateEndpoint, call.json())
  const concurrency = body.concurrent_requests_per_worker ?? defaultConcurrency(body.per_worker)
  checkWorkers(body, body.endpoint_type, call.world.settings.server.scale_from_zero)
  checkConcurrency(concurrency, body.endpoint_type)
  checkLabels(body.labels)
  checkBillingTags(body.billing_tags)
  checkHooks(body.post_inference_hooks, false)
  const bundle = call.world.bundles.get(body.model_bundle_id)
  if (bundle?.owner !== call.owner) throw new VendorError(404, 'The specified model bundle could not be found.')
  checkMultinode(bundle, body)
  checkStreaming(bundle, body)
  checkMetadata(body.metadata, ['_CONVERTED_FROM_ARTIFACT_LIKE'])
  checkResources(body)
  const { name, endpoint_type, model_bundle_id, metadata, public_inference, billing_tags: _, ...rest } = body
  const { task_expires_seconds, queue_message_timeout_seconds, ...infra } = rest
  return createEndpoint(call, {
    flavour: 'generic',
    name,
    endpoint_type,
    row: {
      bundle_id: model_bundle_id,
      metadata,
      public_inference,
      task_expires_seconds,
      queue_message_timeout_seconds,
    },
    infra: {
      ...infra,
      concurrent_requests_per_worker: concurrency,
      prewarm: infra.prewarm ?? true,
      high_priority: infra.high_priority ?? false,
    },
  })
}
