import { z } from 'zod'
import { integer, jsonObject, optional, textMap } from '../fields.ts'

const image = {
  repository: z.string(),
  tag: z.string(),
  command: z.array(z.string()),
  predict_route: z.string().default('/predict'),
  healthcheck_route: z.string().default('/readyz'),
  env: optional(textMap),
  protocol: z.literal('http'),
  readiness_initial_delay_seconds: integer().default(120),
  extra_routes: z.array(z.string()).default([]),
  routes: z.array(z.string()).default([]),
  forwarder_type: z.nullish(z.string()).transform((value) => value ?? 'default'),
  worker_command: optional(z.array(z.string())),
  worker_env: optional(textMap),
}

const Flavor = z.discriminatedUnion('flavor', [
  z.object({ flavor: z.literal('runnable_image'), ...image }),
  z.object({
    flavor: z.literal('streaming_enhanced_runnable_image'),
    ...image,
    command: z.array(z.string()).default([]),
    streaming_command: z.array(z.string()),
    streaming_predict_route: z.string().default('/stream'),
  }),
])

/** Body of POST `/v2/model-bundles`, for the flavours that run an image as it is. */
export const CreateBundle = z.object({
  name: z.string(),
  metadata: optional(jsonObject),
  schema_location: z.string(),
  flavor: Flavor,
})
