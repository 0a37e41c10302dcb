import { z } from '@hono/zod-openapi'

/** The vendors a model is deployed at. */
export const DEPLOYED_VENDORS = ['launch', 'llmengine'] as const

const MODEL_VENDORS = [
  'openai',
  'cohere',
  'vertex_ai',
  'anthropic',
  'azure',
  'gemini',
  'launch',
  'llmengine',
  'model_zoo',
  'bedrock',
  'xai',
  'fireworks_ai',
] as const

export const InferenceModelVendor = z.enum(MODEL_VENDORS).openapi('InferenceModelVendor', {
  description: 'Who serves a model: `launch` and `llmengine` deploy it, every other vendor serves it already',
})

export const HostedModelVendor = InferenceModelVendor.exclude(DEPLOYED_VENDORS).openapi('HostedModelVendor', {
  description: 'A vendor that serves the model already',
})

export const InferenceModelType = z.enum(['generic', 'completion', 'chat_completion']).openapi('InferenceModelType')

export const InferenceModelStatus = z
  .enum(['failed', 'ready', 'deploying', 'deployment_timeout'])
  .openapi('InferenceModelStatus', { description: 'Where the latest configuration of a model is' })

export const InferenceModelAvailability = z
  .enum(['unknown', 'available', 'unavailable'])
  .openapi('InferenceModelAvailability', {
    description: 'Whether something serves: after a failed update the previous configuration may',
  })

export const EndpointType = z.enum(['async', 'sync', 'streaming']).openapi('EndpointType')

export const GpuType = z
  .enum([
    'nvidia-tesla-t4',
    'nvidia-ampere-a10',
    'nvidia-ampere-a100',
    'nvidia-ampere-a100e',
    'nvidia-hopper-h100',
    'nvidia-hopper-h100-1g20gb',
    'nvidia-hopper-h100-3g40gb',
  ])
  .openapi('GpuType')

export type InferenceModelVendor = z.infer<typeof InferenceModelVendor>
export type InferenceModelStatus = z.infer<typeof InferenceModelStatus>
export type GpuType = z.infer<typeof GpuType>
