import { z } from '@hono/zod-openapi'
import { Metadata } from '../free-form.ts'
import { given, givenOr, refused } from '../given.ts'
import { Name } from '../text.ts'
import { PartialLaunchVendorConfiguration } from './launch-configuration.ts'
import { PartialLlmEngineVendorConfiguration } from './llm-engine-configuration.ts'

const model_metadata = given(Metadata).openapi({ description: 'Replaces the metadata', example: { team: 'search' } })

const WITH_NAME = 'goes only with name'
const WITHOUT_NAME = 'a rename changes nothing else: send two requests'

export const UpdateModelConfiguration = z
  .object({
    vendor_configuration: z.union([PartialLaunchVendorConfiguration, PartialLlmEngineVendorConfiguration]).openapi({
      description: 'Merged into the configuration field by field; `{}` deploys the same again',
    }),
    model_metadata,
    name: refused(WITHOUT_NAME),
    on_conflict: refused(WITH_NAME),
  })
  .openapi('UpdateModelConfiguration', { description: 'Deploys the model again' })

export const RenameModel = z
  .object({
    name: Name.openapi({ example: 'support-answers-v2' }),
    on_conflict: givenOr(z.enum(['error', 'swap']), 'error').openapi({
      description: '`swap` exchanges names with the model that has the name',
    }),
    vendor_configuration: refused(WITHOUT_NAME),
    model_metadata: refused(WITHOUT_NAME),
  })
  .openapi('RenameModel', { description: 'Takes effect at once' })

export const UpdateModelMetadata = z
  .object({
    model_metadata,
    name: refused(WITHOUT_NAME),
    on_conflict: refused(WITH_NAME),
    vendor_configuration: refused('expected an object'),
  })
  .openapi('UpdateModelMetadata', { description: 'Takes effect at once; `{}` changes nothing' })

/**
 * One of three variants, told apart by what is there: a configuration, else a name, else metadata. `change` tells
 * handlers which; it is no field of the wire.
 */
export const UpdateModelRequest = z
  .union([
    UpdateModelConfiguration.transform(({ vendor_configuration, model_metadata }) => ({
      change: 'configuration' as const,
      vendor_configuration,
      model_metadata,
    })),
    RenameModel.transform(({ name, on_conflict }) => ({ change: 'name' as const, name, on_conflict })),
    UpdateModelMetadata.transform(({ model_metadata }) => ({ change: 'metadata' as const, model_metadata })),
  ])
  .openapi('UpdateModelRequest', {
    description: 'Told apart by what is there: `vendor_configuration`, else `name`, else metadata',
  })

export type UpdateModelRequest = z.output<typeof UpdateModelRequest>
