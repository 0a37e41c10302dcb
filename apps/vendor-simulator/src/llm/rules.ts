import { isMissingTag } from '../model-bundles/bundle.ts'
import { UncaughtError, VendorError } from '../vendor-error.ts'
import type { LlmSettings } from './settings.ts'

const LONGEST_CHAT_TEMPLATE = 10_000
const QUANTIZATIONS: Record<string, string[]> = { vllm: ['awq'], text_generation_inference: ['bitsandbytes'] }
const STREAMING_ONLY = ['vllm', 'text_generation_inference', 'lightllm', 'tensorrt_llm']
const CHECKPOINT_SCHEMES = ['s3://', 'azure://', 'gs://']

/** @throws VendorError 400 */
export const checkShards = (shards: number, framework: string, gpus: number): void => {
  if (framework === 'deepspeed' && shards <= 1) throw new VendorError(400, 'DeepSpeed requires more than 1 GPU.')
  if (framework === 'deepspeed' && shards !== gpus)
    throw new VendorError(400, `Num shard ${shards} must be the same as number of GPUs ${gpus} for DeepSpeed.`)
  if (shards !== gpus) throw new VendorError(400, `Num shard ${shards} must be equal to the number of GPUs ${gpus}.`)
}

/** @throws VendorError 400 */
export const checkQuantization = (quantize: string | null, framework: string): void => {
  const supported = QUANTIZATIONS[framework] ?? []
  if (quantize === null || supported.includes(quantize)) return
  throw new VendorError(
    400,
    `Quantization ${quantize} is not supported for inference framework ${framework}. Supported quantization types are [${supported.join(', ')}].`,
  )
}

/** @throws VendorError 400 */
export const checkChatTemplate = (template: string | null, framework: string): void => {
  if (template === null) return
  if (template.length > LONGEST_CHAT_TEMPLATE)
    throw new VendorError(400, `Chat template length must be less than ${LONGEST_CHAT_TEMPLATE}.`)
  if (framework !== 'vllm') throw new VendorError(400, 'Chat template is only supported for inference framework vllm.')
}

/** @throws VendorError 400 */
export const checkEndpointType = (endpointType: string, framework: string): void => {
  if (endpointType !== 'streaming' && STREAMING_ONLY.includes(framework))
    throw new VendorError(
      400,
      `Creating endpoint type ${endpointType} is not allowed. Can only create streaming endpoints for text-generation-inference, vLLM, LightLLM, and TensorRT-LLM.`,
    )
}

/**
 * A model whose name starts with `unknown` has no checkpoint of its own, and a path with `no-safetensors` no weights.
 *
 * @throws VendorError 400, or UncaughtError where the vendor forgets to catch
 */
export const checkCheckpoint = (model: string, path: string | null): void => {
  if (!path && model.startsWith('unknown')) throw new UncaughtError(`No checkpoint path found for model ${model}`)
  if (!path) return
  if (!CHECKPOINT_SCHEMES.some((scheme) => path.startsWith(scheme)) && !path.includes('blob.core.windows.net'))
    throw new VendorError(
      400,
      `Only S3, Azure Blob Storage, and GCS paths are supported. Given checkpoint path: ${path}.`,
    )
  if (path.endsWith('.tar')) throw new VendorError(400, `Tar files are not supported. Given checkpoint path: ${path}.`)
  if (path.includes('no-safetensors')) throw new VendorError(400, 'No safetensors found in the checkpoint path.')
}

/** The checks that come with making a new bundle. @throws VendorError 400, 404 */
export const checkImage = (settings: LlmSettings, nodesPerWorker: number): void => {
  if (isMissingTag(settings.inference_framework_image_tag))
    throw new VendorError(404, 'The specified docker image could not be found.')
  if (nodesPerWorker > 1 && settings.inference_framework !== 'vllm')
    throw new VendorError(400, `Multinode is not supported for framework ${settings.inference_framework}.`)
  checkCheckpoint(settings.model_name, settings.checkpoint_path)
}
