import { z } from 'zod'
import { ENDPOINT_TYPES } from '../endpoint.ts'
import { commonFields, integer, jsonObject, optional, quantity, textMap } from '../fields.ts'

const notNegative = integer((schema) => schema.min(0))
const positive = integer((schema) => schema.gt(0))
const shared = {
  ...commonFields,
  concurrent_requests_per_worker: optional(positive),
  forwarder_max_concurrency: optional(integer((schema) => schema.gt(0).max(20))),
}

/** Body of POST `/v1/model-endpoints`. */
export const CreateEndpoint = z.object({
  ...shared,
  name: z.string().max(63),
  model_bundle_id: z.string(),
  endpoint_type: z.enum(ENDPOINT_TYPES),
  metadata: jsonObject,
  cpus: quantity,
  gpus: notNegative,
  memory: quantity,
  storage: quantity,
  nodes_per_worker: positive.default(1),
  min_workers: notNegative,
  max_workers: notNegative,
  per_worker: positive,
  labels: textMap,
  public_inference: z.nullish(z.boolean()).transform((value) => value ?? false),
})

/** Body of PUT `/v1/model-endpoints/{id}`: what is absent or `null` stays. */
export const UpdateEndpoint = z.object({
  ...shared,
  model_bundle_id: optional(z.string()),
  metadata: optional(jsonObject),
  gpus: optional(notNegative),
  min_workers: optional(notNegative),
  max_workers: optional(notNegative),
  per_worker: optional(positive),
  labels: optional(textMap),
  public_inference: optional(z.boolean()),
})

export type CreateEndpoint = z.infer<typeof CreateEndpoint>
export type UpdateEndpoint = z.infer<typeof UpdateEndpoint>
