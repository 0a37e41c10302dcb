import type { Call, Handler } from '../call.ts'
import { addBundle } from '../model-bundles/routes.ts'
import type { Bundle } from '../model-bundles/bundle.ts'
import { checkResources } from '../resource-rules.ts'
import { checkBillingTags, checkHooks, checkLabels, checkWorkers } from '../rules.ts'
import { parseBody } from '../validation-detail.ts'
import { VendorError } from '../vendor-error.ts'
import { createEndpoint } from '../write-endpoint.ts'
import { withHardware } from './hardware.ts'
import { checkChatTemplate, checkEndpointType, checkImage, checkQuantization, checkShards } from './rules.ts'
import { CreateLlm, FRAMEWORKS } from './schema.ts'
import type { LlmSettings } from './settings.ts'
import { givenArguments } from './vllm-arguments.ts'

/** The tag that `latest` stands for. */
const LATEST_TAG = '2026.06'
const CONCURRENCY = 250

export const resolveTag = (tag: string): string => (tag === 'latest' ? LATEST_TAG : tag)

/** The framework decides which body is expected. @throws VendorError 422 for one the route does not take */
export const frameworkOf = (body: unknown, known: readonly string[]): string => {
  const asked = typeof body === 'object' && body !== null ? Reflect.get(body, 'inference_framework') : undefined
  const framework: unknown = asked === undefined ? 'vllm' : asked
  if (typeof framework === 'string' && known.includes(framework)) return framework
  const expected = known.map((name) => `'${name}'`).join(', ')
  const msg = `Input tag '${String(framework)}' found using get_inference_framework() does not match any of the expected tags: ${expected}`
  throw new VendorError(422, [
    { type: 'union_tag_invalid', loc: ['body'], msg, input: body, ctx: { expected_tags: expected } },
  ])
}

export const addLlmBundle = (call: Call, name: string, settings: LlmSettings): Bundle => {
  const { inference_framework, inference_framework_image_tag } = settings
  const flavor = {
    flavor: 'streaming_enhanced_runnable_image',
    repository: inference_framework,
    tag: inference_framework_image_tag,
  }
  return addBundle(call, { name, metadata: {}, schema_location: 'TBA', flavor, madeBy: 'llm' })
}

const settingsOf = (body: CreateLlm): LlmSettings => ({
  model_name: body.model_name,
  source: body.source,
  inference_framework: body.inference_framework,
  inference_framework_image_tag: resolveTag(body.inference_framework_image_tag),
  num_shards: body.num_shards,
  quantize: body.quantize,
  checkpoint_path: body.checkpoint_path,
  chat_template_override: body.chat_template_override,
  ...(body.inference_framework === 'vllm' ? { vllm_additional_args: givenArguments(body) } : {}),
})

const checkBody = (body: CreateLlm & { gpus: number }, scaleFromZero: boolean): void => {
  checkWorkers(body, body.endpoint_type, scaleFromZero)
  if (body.gpu_type === 'nvidia-ampere-a100e')
    throw new VendorError(400, 'We have migrated A100 usage to H100. Please request for H100 instead!')
  checkLabels(body.labels)
  checkBillingTags(body.billing_tags)
  checkHooks(body.post_inference_hooks, false)
  checkShards(body.num_shards, body.inference_framework, body.gpus)
  checkQuantization(body.quantize, body.inference_framework)
  checkChatTemplate(body.chat_template_override, body.inference_framework)
  checkEndpointType(body.endpoint_type, body.inference_framework)
}

export const createLlmEndpoint: Handler = (call) => {
  const json = call.json()
  const framework = frameworkOf(json, FRAMEWORKS)
  const { strict_models, scale_from_zero } = call.world.settings.server
  const body = withHardware(parseBody(CreateLlm, json, ['body', framework]), strict_models)
  checkBody(body, scale_from_zero)
  if (body.nodes_per_worker > 1 && framework !== 'vllm')
    throw new VendorError(400, 'Multinode endpoints are only supported for VLLM models.')
  const settings = settingsOf(body)
  checkImage(settings, body.nodes_per_worker)
  checkResources(body)
  const bundle = addLlmBundle(call, body.name, settings)
  return createEndpoint(call, {
    flavour: 'llm',
    name: body.name,
    endpoint_type: body.endpoint_type,
    row: {
      bundle_id: bundle.id,
      metadata: { ...body.metadata, _llm: settings },
      public_inference: body.public_inference,
      task_expires_seconds: body.task_expires_seconds,
      queue_message_timeout_seconds: body.queue_message_timeout_seconds,
    },
    infra: {
      labels: body.labels,
      cpus: body.cpus,
      gpus: body.gpus,
      gpu_type: body.gpu_type,
      memory: body.memory,
      storage: body.storage,
      nodes_per_worker: body.nodes_per_worker,
      optimize_costs: body.optimize_costs ?? false,
      min_workers: body.min_workers,
      max_workers: body.max_workers,
      per_worker: body.per_worker,
      concurrent_requests_per_worker: CONCURRENCY,
      forwarder_max_concurrency: null,
      prewarm: body.prewarm ?? true,
      high_priority: body.high_priority ?? false,
      post_inference_hooks: body.post_inference_hooks,
      default_callback_url: body.default_callback_url,
      default_callback_auth: body.default_callback_auth,
    },
  })
}
