import { z } from '@hono/zod-openapi'
import { FreeFormObject } from '../free-form.ts'
import { allClearable, allGiven, allOptional, given } from '../given.ts'
import { Text, textWithin } from '../text.ts'
import { EndpointType, GpuType } from './vendors.ts'
import { Cpus, workerFields } from './worker-fields.ts'

/** The longest argument that Linux passes to a program, without its NUL: MAX_ARG_STRLEN. */
const WORD_BYTES = 131_071

const Words = z.array(textWithin(WORD_BYTES))
const HttpPath = Text.regex(/^\/[^\s?#]*$/, { error: 'must be a path that begins with /' })

const requiredImage = {
  command: Words.openapi({ description: 'What starts the server, word by word', example: ['python', '-m', 'server'] }),
  registry: textWithin(512, 1).openapi({ example: 'registry.example.com' }),
  repository: textWithin(512, 1).openapi({ example: 'search/ranker' }),
  tag: textWithin(128, 1).openapi({ example: '1.4.2' }),
}

const optionalImage = {
  env_vars: FreeFormObject.openapi({
    description: 'Environment of the container: scalars, or `{"$credential": NAME}` for the payload of a credential',
    example: { LOG_LEVEL: 'info', HF_TOKEN: { $credential: 'hugging-face' } },
  }),
  healthcheck_route: HttpPath.openapi({ example: '/readyz' }),
  predict_route: HttpPath.openapi({ example: '/predict' }),
  readiness_delay: z.int().min(0).openapi({ description: 'Seconds before the first health check', example: 120 }),
  request_schema: FreeFormObject.openapi({ description: 'JSON Schema of what the model takes' }),
  response_schema: FreeFormObject.openapi({ description: 'JSON Schema of what the model answers' }),
  streaming_command: Words.openapi({ description: 'What starts the server when it streams' }),
  streaming_predict_route: HttpPath.openapi({ example: '/stream' }),
}

const infra = { ...workerFields, cpus: Cpus, endpoint_type: EndpointType, gpu_type: GpuType }

const CLOSED = 'A closed shape: an unknown field is refused'

const LaunchModelImage = z.strictObject({ ...requiredImage, ...allOptional(optionalImage) }).openapi('LaunchModelImage')
const LaunchModelInfra = z.strictObject(allOptional(infra)).openapi('LaunchModelInfra')

/** A configuration as it is stored and shown. */
export const LaunchVendorConfiguration = z
  .strictObject({ model_image: LaunchModelImage, model_infra: LaunchModelInfra })
  .openapi('LaunchVendorConfiguration')

const NewLaunchModelImage = z
  .strictObject({ ...requiredImage, ...allGiven(optionalImage) })
  .openapi('NewLaunchModelImage')
const NewLaunchModelInfra = z.strictObject(allGiven(infra)).openapi('NewLaunchModelInfra')

/** A configuration as it is asked for. */
export const NewLaunchVendorConfiguration = z
  .strictObject({ model_image: NewLaunchModelImage, model_infra: NewLaunchModelInfra })
  .openapi('NewLaunchVendorConfiguration', { description: CLOSED })

export const PartialLaunchModelImage = z
  .strictObject({ ...allGiven(requiredImage), ...allClearable(optionalImage) })
  .openapi('PartialLaunchModelImage')
export const PartialLaunchModelInfra = z.strictObject(allClearable(infra)).openapi('PartialLaunchModelInfra')

/** What changes in a configuration: `null` clears an optional field. */
export const PartialLaunchVendorConfiguration = z
  .strictObject({ model_image: given(PartialLaunchModelImage), model_infra: given(PartialLaunchModelInfra) })
  .openapi('PartialLaunchVendorConfiguration', { description: `${CLOSED}; \`null\` clears an optional field` })

export type LaunchVendorConfiguration = z.output<typeof LaunchVendorConfiguration>
export type PartialLaunchVendorConfiguration = z.output<typeof PartialLaunchVendorConfiguration>
