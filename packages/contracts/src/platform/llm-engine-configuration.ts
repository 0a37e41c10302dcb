import { z } from '@hono/zod-openapi'
import { FreeFormValue } from '../free-form.ts'
import { allClearable, allGiven, allOptional, given, refused } from '../given.ts'
import { Text, textWithin } from '../text.ts'
import { GpuType } from './vendors.ts'
import { workerFields } from './worker-fields.ts'

const required = {
  model: textWithin(255, 1).openapi({ description: 'The base model', example: 'llama-3-8b-instruct' }),
}

const optional = {
  chat_template_override: Text.openapi({ description: 'A Jinja chat template; vllm only' }),
  checkpoint_path: Text.openapi({ description: 'Where the weights are', example: 's3://models/llama-3-8b' }),
  cpus: z.number().positive().openapi({ description: 'CPUs of one worker', example: 8 }),
  default_callback_url: Text.openapi({ description: 'Where results of asynchronous requests are posted' }),
  endpoint_type: Text.openapi({
    description: '`streaming`; with deepspeed or sglang also `sync` or `async`',
    example: 'streaming',
  }),
  gpu_type: Text.openapi({ description: `One of ${GpuType.options.join(', ')}`, example: 'nvidia-ampere-a10' }),
  inference_framework: Text.openapi({
    description: 'vllm (default), sglang, deepspeed, text_generation_inference, lightllm or tensorrt_llm',
    example: 'vllm',
  }),
  inference_framework_image_tag: Text.openapi({ example: 'latest' }),
  nodes_per_worker: z.int().min(1).openapi({ example: 1 }),
  num_shards: z.int().min(1).openapi({ description: 'As many as `gpus`', example: 1 }),
  post_inference_hooks: z.array(Text).openapi({ description: 'Any of billing, callback, logging' }),
  quantize: Text.openapi({ description: 'awq or bitsandbytes', example: 'awq' }),
  source: Text.openapi({ description: 'hugging_face', example: 'hugging_face' }),
  ...workerFields,
}

const OPEN = 'An open shape: a further field is stored, returned and passed to the vendor as it is'

/** A configuration as it is stored and shown. */
export const LlmEngineVendorConfiguration = z
  .object({ ...required, ...allOptional(optional) })
  .catchall(FreeFormValue)
  .openapi('LlmEngineVendorConfiguration', { description: OPEN })

/** A configuration as it is asked for. */
export const NewLlmEngineVendorConfiguration = z
  .object({ ...required, ...allGiven(optional) })
  .catchall(FreeFormValue)
  .openapi('NewLlmEngineVendorConfiguration', { description: OPEN })

const OF_LAUNCH = 'belongs to a launch configuration'

/** What changes in a configuration: `null` clears an optional field. */
export const PartialLlmEngineVendorConfiguration = z
  .object({
    model: given(required.model),
    ...allClearable(optional),
    model_image: refused(OF_LAUNCH),
    model_infra: refused(OF_LAUNCH),
  })
  .catchall(FreeFormValue)
  .openapi('PartialLlmEngineVendorConfiguration', { description: `${OPEN}; \`null\` clears an optional field` })

export type LlmEngineVendorConfiguration = z.output<typeof LlmEngineVendorConfiguration>
export type PartialLlmEngineVendorConfiguration = z.output<typeof PartialLlmEngineVendorConfiguration>
