import { z } from '@hono/zod-openapi'
import { isJsonObject, Metadata } from '../free-form.ts'
import { given, givenOr, refused } from '../given.ts'
import { Name } from '../text.ts'
import { launchProblems } from './launch-rules.ts'
import { NewLaunchVendorConfiguration } from './launch-configuration.ts'
import { NewLlmEngineVendorConfiguration } from './llm-engine-configuration.ts'
import { llmEngineProblems } from './llm-engine-rules.ts'
import { obeying } from './rule.ts'
import { HostedModelVendor, InferenceModelType } from './vendors.ts'

const common = {
  name: Name.openapi({ description: 'Unique among the models of a vendor', example: 'support-answers' }),
  model_metadata: given(Metadata).openapi({ example: { team: 'search' } }),
  on_conflict: givenOr(z.enum(['error', 'update']), 'error').openapi({
    description: 'What happens when a model of this name and vendor exists',
  }),
}

export const CreateLaunchModel = z
  .object({
    ...common,
    model_vendor: z.literal('launch').default('launch'),
    model_type: givenOr(z.literal('generic'), 'generic'),
    vendor_configuration: obeying(NewLaunchVendorConfiguration, launchProblems),
  })
  .openapi('CreateLaunchModel', { description: 'A model in a container image' })

export const CreateLlmEngineModel = z
  .object({
    ...common,
    model_vendor: z.literal('llmengine').default('llmengine'),
    model_type: givenOr(z.literal('chat_completion'), 'chat_completion'),
    vendor_configuration: obeying(NewLlmEngineVendorConfiguration, llmEngineProblems),
  })
  .openapi('CreateLlmEngineModel', { description: 'A language model' })

export const CreateHostedModel = z
  .object({
    ...common,
    model_vendor: HostedModelVendor,
    model_type: InferenceModelType,
    vendor_configuration: refused('a hosted model has no vendor_configuration'),
  })
  .openapi('CreateHostedModel', { description: 'A model that an external vendor serves already; needs no deployment' })

const Variants = z.discriminatedUnion('model_vendor', [CreateLaunchModel, CreateLlmEngineModel, CreateHostedModel], {
  error: ({ code }) =>
    code === 'invalid_union' ? 'names no vendor, and vendor_configuration names none either' : undefined,
})

const inferredVendor = (configuration: unknown): string | undefined => {
  if (!isJsonObject(configuration)) return undefined
  if (configuration['model_image'] !== undefined) return 'launch'
  return configuration['model'] === undefined ? undefined : 'llmengine'
}

/** Older clients leave `model_vendor` out: the configuration tells. */
const withVendor = (body: z.input<typeof Variants>): unknown => {
  if (!isJsonObject(body) || (body['model_vendor'] ?? undefined) !== undefined) return body
  return { ...body, model_vendor: inferredVendor(body['vendor_configuration']) }
}

const documented = ['CreateLaunchModel', 'CreateLlmEngineModel', 'CreateHostedModel'].map((name) => ({
  $ref: `#/components/schemas/${name}`,
}))

/** A flat body in one of three variants, told apart by `model_vendor`. */
export const CreateModelRequest = z.preprocess(withVendor, Variants).openapi('CreateModelRequest', {
  type: 'object',
  anyOf: documented,
  description:
    'Told apart by `model_vendor`; where it is left out, by `model_image` or `model` in `vendor_configuration`',
})

export type CreateModelRequest = z.output<typeof CreateModelRequest>
