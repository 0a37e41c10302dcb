import { isJsonObject, plainValue } from '../free-form.ts'
import { isCallbackUrl } from './callback-url.ts'
import { envVarProblems } from './env-vars.ts'
import { labelProblems } from './label-rules.ts'
import type { LlmEngineVendorConfiguration } from './llm-engine-configuration.ts'
import { resourceProblems } from './resource-rules.ts'
import { failing, type Rule } from './rule.ts'
import { EndpointType, GpuType } from './vendors.ts'
import { scaleProblems, workerProblems } from './worker-rules.ts'

const FRAMEWORKS = ['vllm', 'sglang', 'deepspeed', 'text_generation_inference', 'lightllm', 'tensorrt_llm']
const STREAMING_ONLY = ['vllm', 'text_generation_inference', 'lightllm', 'tensorrt_llm']
const QUANTIZATIONS = new Map([
  ['vllm', ['awq']],
  ['text_generation_inference', ['bitsandbytes']],
])
const HOOKS = ['billing', 'callback', 'logging']
const CHECKPOINT = /^(s3:\/\/|gs:\/\/|azure:\/\/|https:\/\/[^/]+\.blob\.core\.windows\.net\/)\S+$/
/** Source: llm-engine, validate_billing_tags. */
const BILLING_TAGS = ['idempotencyKeyPrefix', 'product', 'type', 'subType', 'payee', 'payor', 'reference']
const RESERVED_METADATA = ['_llm', '_CONVERTED_FROM_ARTIFACT_LIKE']
const CHAT_TEMPLATE_CHARACTERS = 10_000

const oneOf = (value: string | undefined, allowed: readonly string[], path: string) =>
  [value !== undefined && !allowed.includes(value), path, `must be one of ${allowed.join(', ')}`] as const

const quantizationMessage = (quantizations: readonly string[]): string =>
  quantizations.length === 0
    ? 'goes only with vllm or text_generation_inference'
    : `must be ${quantizations.join(', ')}`

/** Values from a fixed list. */
const choiceProblems: Rule<LlmEngineVendorConfiguration> = (configuration) => {
  const { inference_framework: framework = 'vllm', endpoint_type, quantize, source, gpu_type } = configuration
  const quantizations = QUANTIZATIONS.get(framework) ?? []
  const endpointTypes = STREAMING_ONLY.includes(framework) ? ['streaming'] : EndpointType.options
  return failing([
    oneOf(framework, FRAMEWORKS, 'inference_framework'),
    oneOf(endpoint_type, endpointTypes, 'endpoint_type'),
    [quantize !== undefined && !quantizations.includes(quantize), 'quantize', quantizationMessage(quantizations)],
    oneOf(source, ['hugging_face'], 'source'),
    oneOf(gpu_type, GpuType.options, 'gpu_type'),
    [gpu_type === 'nvidia-ampere-a100e', 'gpu_type', 'is not offered any more: ask for nvidia-hopper-h100'],
    [
      configuration.post_inference_hooks?.some((hook) => !HOOKS.includes(hook)),
      'post_inference_hooks',
      `must be of ${HOOKS.join(', ')}`,
    ],
  ])
}

const hardwareProblems: Rule<LlmEngineVendorConfiguration> = (configuration) => {
  const { inference_framework: framework = 'vllm', gpus, num_shards, nodes_per_worker = 1 } = configuration
  const { min_workers, max_workers } = configuration
  const shards = num_shards ?? gpus ?? 1
  const isMultiNode = nodes_per_worker > 1
  return failing([
    [num_shards !== undefined && gpus !== undefined && num_shards !== gpus, 'num_shards', 'must equal gpus'],
    [gpus === 0, 'gpus', 'must be at least 1'],
    [framework === 'deepspeed' && shards === 1, 'num_shards', 'must be more than 1 with deepspeed'],
    [isMultiNode && framework !== 'vllm', 'nodes_per_worker', 'must be 1 unless the framework is vllm'],
    [
      isMultiNode && min_workers !== max_workers,
      'min_workers',
      'must equal max_workers when a worker has several nodes',
    ],
  ])
}

const fileProblems: Rule<LlmEngineVendorConfiguration> = (configuration) => {
  const {
    chat_template_override: template,
    checkpoint_path: checkpoint,
    default_callback_url: callback,
  } = configuration
  const { inference_framework: framework = 'vllm' } = configuration
  return failing([
    [template !== undefined && framework !== 'vllm', 'chat_template_override', 'goes only with vllm'],
    [
      template !== undefined && template.length > CHAT_TEMPLATE_CHARACTERS,
      'chat_template_override',
      `must be at most ${CHAT_TEMPLATE_CHARACTERS} characters`,
    ],
    [
      checkpoint !== undefined && !CHECKPOINT.test(checkpoint),
      'checkpoint_path',
      'must begin with s3://, gs://, azure:// or the https:// of an Azure blob store',
    ],
    [checkpoint?.endsWith('.tar'), 'checkpoint_path', 'must be a folder of safetensors, no .tar'],
    [
      callback !== undefined && !isCallbackUrl(callback),
      'default_callback_url',
      'must be an http or https URL without user, and not of a metadata service',
    ],
  ])
}

/** Fields beyond the documented ones that the vendor looks into. */
const passedProblems: Rule<LlmEngineVendorConfiguration> = (configuration) => {
  const [metadata, tags] = [plainValue(configuration['metadata']), plainValue(configuration['billing_tags'])]
  const missing = BILLING_TAGS.filter((name) => !isJsonObject(tags) || tags[name] === undefined)
  return [
    ...failing([
      [metadata !== undefined && !isJsonObject(metadata), 'metadata', 'must be an object'],
      [isJsonObject(metadata) && RESERVED_METADATA.some((name) => name in metadata), 'metadata', 'has a reserved name'],
      [(tags ?? undefined) !== undefined && missing.length > 0, 'billing_tags', `lacks ${missing.join(', ')}`],
    ]),
    ...envVarProblems(configuration['env_vars']),
  ]
}

/** What a GPU type that is left out is completed with. */
const COMPLETED_GPU_TYPE: GpuType = 'nvidia-ampere-a10'

/** What LLM Engine would refuse about a whole configuration, given or merged. */
export const llmEngineProblems: Rule<LlmEngineVendorConfiguration> = (configuration) => [
  ...choiceProblems(configuration),
  ...hardwareProblems(configuration),
  ...fileProblems(configuration),
  ...passedProblems(configuration),
  ...workerProblems(configuration),
  ...scaleProblems(configuration, configuration.endpoint_type ?? 'streaming'),
  ...resourceProblems({ ...configuration, gpu_type: configuration.gpu_type ?? COMPLETED_GPU_TYPE }),
  ...labelProblems(configuration.labels),
]
