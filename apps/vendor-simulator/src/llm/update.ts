import type { Call, Handler } from '../call.ts'
import { observedInfra } from '../endpoint-view.ts'
import type { Infra, Row } from '../endpoint.ts'
import { overlay, rowOf } from '../model-endpoints/update.ts'
import type { EndpointRecord } from '../records.ts'
import { checkResources } from '../resource-rules.ts'
import {
  checkBillingTags,
  checkHooks,
  checkLabels,
  checkMetadata,
  checkWorkers,
  RESERVED_METADATA_KEYS,
} from '../rules.ts'
import { parseBody } from '../validation-detail.ts'
import { UncaughtError, VendorError } from '../vendor-error.ts'
import { liveEndpoint, updateEndpoint } from '../write-endpoint.ts'
import { addLlmBundle, frameworkOf, resolveTag } from './create.ts'
import { checkChatTemplate, checkImage, checkQuantization, checkShards } from './rules.ts'
import { UPDATABLE_FRAMEWORKS, UpdateLlm } from './schema.ts'
import { llmSettingsOf, type LlmSettings } from './settings.ts'
import { givenArguments } from './vllm-arguments.ts'

const NOT_FOUND = 'The specified LLM endpoint could not be found.'
const CLEARABLE = ['quantize', 'checkpoint_path', 'chat_template_override'] as const

/** What was sent, as against what was left out: `null` clears. */
const isSent = (json: unknown, field: string) => typeof json === 'object' && json !== null && Object.hasOwn(json, field)

const needsBundle = (body: UpdateLlm, json: unknown): boolean =>
  Boolean(
    body.force_bundle_recreation ||
    body.model_name ||
    body.source ||
    body.inference_framework_image_tag ||
    body.num_shards ||
    CLEARABLE.some((field) => isSent(json, field)),
  )

const mergeSettings = (stored: LlmSettings, body: UpdateLlm, json: unknown): LlmSettings => {
  const sent = Object.fromEntries(CLEARABLE.filter((field) => isSent(json, field)).map((field) => [field, body[field]]))
  const extra = { ...stored.vllm_additional_args, ...givenArguments(body) }
  return {
    ...stored,
    model_name: body.model_name || stored.model_name,
    source: body.source ?? stored.source,
    inference_framework_image_tag: resolveTag(
      body.inference_framework_image_tag || stored.inference_framework_image_tag,
    ),
    num_shards: body.num_shards || stored.num_shards,
    ...sent,
    ...(stored.inference_framework === 'vllm' ? { vllm_additional_args: extra } : {}),
  }
}

const findRecord = (call: Call): EndpointRecord => {
  const record = call.world.records.llmByName(call.replica, call.param('name'))
  if (record?.owner !== call.owner) throw new VendorError(404, NOT_FOUND)
  return record
}

/** 0 counts as not given. */
const mergeInfra = (stored: Infra, body: UpdateLlm): Infra =>
  overlay(stored, {
    labels: body.labels,
    cpus: body.cpus || null,
    gpus: body.gpus || null,
    gpu_type: body.gpu_type,
    memory: body.memory || null,
    storage: body.storage || null,
    optimize_costs: body.optimize_costs,
    min_workers: body.min_workers,
    max_workers: body.max_workers,
    per_worker: body.per_worker,
    prewarm: body.prewarm,
    high_priority: body.high_priority,
    post_inference_hooks: body.post_inference_hooks,
    default_callback_url: body.default_callback_url,
    default_callback_auth: body.default_callback_auth,
  })

/** A new bundle and its settings, where the update asks for what only a new bundle brings. */
const rebundle = (call: Call, record: EndpointRecord, body: UpdateLlm, json: unknown, infra: Infra) => {
  const stored = llmSettingsOf(record)
  if (!needsBundle(body, json)) return { bundle_id: record.bundle_id, settings: stored }
  const settings = mergeSettings(stored, body, json)
  checkShards(settings.num_shards, stored.inference_framework, infra.gpus)
  checkQuantization(settings.quantize, stored.inference_framework)
  checkChatTemplate(body.chat_template_override, stored.inference_framework)
  checkImage(settings, infra.nodes_per_worker)
  return { bundle_id: addLlmBundle(call, record.name, settings).id, settings }
}

export const updateLlmEndpoint: Handler = (call) => {
  const json = call.json()
  const framework = frameworkOf(json, UPDATABLE_FRAMEWORKS)
  const body = parseBody(UpdateLlm, json, ['body', framework])
  if (body.labels) checkLabels(body.labels)
  checkBillingTags(body.billing_tags)
  checkHooks(body.post_inference_hooks, false)
  const record = findRecord(call)
  const state = observedInfra(call.world, record)
  // The vendor's LLM route does not catch this one, its generic route does.
  if (!state) throw new UncaughtError(`Endpoint infra state not found for ${record.name}`)
  const infra = mergeInfra(state.infra, body)
  const { bundle_id, settings } = rebundle(call, record, body, json, infra)
  checkResources(infra)
  checkWorkers(body, record.endpoint_type, call.world.settings.server.scale_from_zero)
  if (body.metadata) checkMetadata(body.metadata, RESERVED_METADATA_KEYS)
  const row: Row = overlay(rowOf(record), {
    bundle_id,
    metadata: { ...record.metadata, ...body.metadata, _llm: settings },
    public_inference: body.public_inference,
    task_expires_seconds: body.task_expires_seconds,
    queue_message_timeout_seconds: body.queue_message_timeout_seconds,
  })
  return updateEndpoint(call, liveEndpoint(call, record, NOT_FOUND), { row, infra })
}
