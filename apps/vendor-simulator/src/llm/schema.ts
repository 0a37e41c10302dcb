import { z } from 'zod'
import { ENDPOINT_TYPES } from '../endpoint.ts'
import { commonFields, integer, jsonObject, optional, textMap } from '../fields.ts'
import { vllmArguments } from './vllm-arguments.ts'

export const FRAMEWORKS = [
  'vllm',
  'sglang',
  'deepspeed',
  'text_generation_inference',
  'lightllm',
  'tensorrt_llm',
] as const
export const UPDATABLE_FRAMEWORKS = ['vllm', 'sglang', 'deepspeed', 'text_generation_inference'] as const

const shared = {
  ...commonFields,
  ...vllmArguments,
  quantize: optional(z.enum(['bitsandbytes', 'awq'])),
  checkpoint_path: optional(z.string()),
  gpus: optional(integer()),
  nodes_per_worker: optional(integer()),
  chat_template_override: optional(z.string()),
  enable_startup_metrics: optional(z.boolean()),
}

/** Body of POST `/v1/llm/model-endpoints`. */
export const CreateLlm = z.object({
  ...shared,
  name: z.string(),
  model_name: z.string(),
  metadata: jsonObject,
  min_workers: integer(),
  max_workers: integer(),
  per_worker: integer(),
  labels: textMap,
  source: z.literal('hugging_face').default('hugging_face'),
  inference_framework: z.enum(FRAMEWORKS).default('vllm'),
  inference_framework_image_tag: z.string().default('latest'),
  num_shards: integer().default(1),
  endpoint_type: z.enum(ENDPOINT_TYPES).default('sync'),
  public_inference: z.nullish(z.boolean()).transform((value) => value ?? true),
})

/** Body of PUT `/v1/llm/model-endpoints/{name}`: absent = unchanged, `null` clears what can be cleared. */
export const UpdateLlm = z.object({
  ...shared,
  model_name: optional(z.string()),
  source: optional(z.literal('hugging_face')),
  inference_framework: z.enum(UPDATABLE_FRAMEWORKS).default('vllm'),
  inference_framework_image_tag: optional(z.string()),
  num_shards: optional(integer()),
  metadata: optional(jsonObject),
  force_bundle_recreation: optional(z.boolean()),
  min_workers: optional(integer()),
  max_workers: optional(integer()),
  per_worker: optional(integer()),
  labels: optional(textMap),
  public_inference: optional(z.boolean()),
})

export type CreateLlm = z.infer<typeof CreateLlm>
export type UpdateLlm = z.infer<typeof UpdateLlm>
