import { z } from 'zod'
import type { EndpointRecord } from '../records.ts'

/** What the vendor keeps of an LLM endpoint under the reserved metadata key `_llm`. */
const LlmSettings = z.object({
  model_name: z.string(),
  source: z.string(),
  inference_framework: z.string(),
  inference_framework_image_tag: z.string(),
  num_shards: z.number(),
  quantize: z.string().nullable(),
  checkpoint_path: z.string().nullable(),
  chat_template_override: z.string().nullable(),
  vllm_additional_args: z.record(z.string(), z.unknown()).optional(),
})

export type LlmSettings = z.infer<typeof LlmSettings>

export const llmSettingsOf = ({ metadata }: Pick<EndpointRecord, 'metadata'>): LlmSettings =>
  LlmSettings.parse(metadata['_llm'])
