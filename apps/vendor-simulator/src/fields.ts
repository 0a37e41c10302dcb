import { z } from 'zod'

/** Fields that several request bodies share; what the vendor's validator lets through passes here too. */

export const GPU_TYPES = [
  'nvidia-tesla-t4',
  'nvidia-ampere-a10',
  'nvidia-ampere-a100',
  'nvidia-ampere-a100e',
  'nvidia-hopper-h100',
  'nvidia-hopper-h100-1g20gb',
  'nvidia-hopper-h100-3g40gb',
] as const

const numberFromText = (value: unknown) =>
  typeof value === 'string' && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value

/** An integer, also when it comes as text. */
export const integer = (bound: (schema: z.ZodInt) => z.ZodInt = (schema) => schema) =>
  z.preprocess(numberFromText, bound(z.int()))

/** May be left out or `null`; reads as `null`. */
export const optional = <S extends z.ZodType>(schema: S) => z.nullish(schema).transform((value) => value ?? null)

export const quantity = z.union([z.string(), z.number()], { error: 'Input should be a valid string' })
export const jsonObject = z.record(z.string(), z.unknown())
export const textMap = z.record(z.string(), z.string())

const httpUrl = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
  error: 'Input should be a valid URL',
})

const callbackAuth = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('basic'), username: z.string(), password: z.string() }),
  z.object({ kind: z.literal('mtls'), cert: z.string(), key: z.string() }),
])

/** What every create and update of an endpoint may carry, on all routes. */
export const commonFields = {
  post_inference_hooks: optional(z.array(z.string())),
  cpus: optional(quantity),
  memory: optional(quantity),
  gpu_type: optional(z.enum(GPU_TYPES)),
  storage: optional(quantity),
  optimize_costs: optional(z.boolean()),
  prewarm: optional(z.boolean()),
  high_priority: optional(z.boolean()),
  billing_tags: optional(jsonObject),
  default_callback_url: optional(httpUrl),
  default_callback_auth: optional(callbackAuth),
  task_expires_seconds: optional(integer((schema) => schema.min(1))),
  queue_message_timeout_seconds: optional(integer((schema) => schema.min(1).max(43_200))),
}
