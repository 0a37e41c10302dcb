import { z } from '@hono/zod-openapi'
import { FreeFormObject } from '../free-form.ts'
import { UtcTimestamp } from '../timestamp.ts'
import { IdentityType } from './identity-type.ts'
import { LaunchVendorConfiguration } from './launch-configuration.ts'
import { LlmEngineVendorConfiguration } from './llm-engine-configuration.ts'
import {
  InferenceModelAvailability,
  InferenceModelStatus,
  InferenceModelType,
  InferenceModelVendor,
} from './vendors.ts'

export const InferenceModel = z
  .object({
    id: z.string().openapi({ example: 'model_01kaf8zq4te3vbr6k2v9d8m5wn' }),
    created_at: UtcTimestamp,
    created_by_identity_type: IdentityType,
    created_by_user_id: z.string().openapi({ example: 'user_01kaf8zq4te3vbr6k2v9d8m5wn' }),
    model_type: InferenceModelType,
    model_vendor: InferenceModelVendor,
    name: z.string().openapi({ example: 'support-answers' }),
    status: InferenceModelStatus,
    model_availability: InferenceModelAvailability.optional(),
    model_metadata: FreeFormObject.optional().openapi({ example: { team: 'search' } }),
    object: z.literal('model').optional(),
    status_reason: z.string().optional().openapi({ description: 'Why the status is what it is, for people' }),
    vendor_configuration: z
      .union([LaunchVendorConfiguration, LlmEngineVendorConfiguration])
      .optional()
      .openapi({ description: 'What was asked for; absent for a hosted model' }),
  })
  .openapi('InferenceModel', { description: 'A model, deployed at a serving vendor or hosted by an external one' })

export const ModelDeleteResponse = z
  .object({
    id: z.string().openapi({ example: 'model_01kaf8zq4te3vbr6k2v9d8m5wn' }),
    deleted: z.boolean().openapi({ example: true }),
    object: z.literal('model').optional(),
  })
  .openapi('ModelDeleteResponse')

export type InferenceModel = z.infer<typeof InferenceModel>
