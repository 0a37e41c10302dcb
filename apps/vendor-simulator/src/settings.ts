import { z } from 'zod'

const Cache = z.strictObject({
  enabled: z.boolean(),
  /** Server processes that requests go round; each has its own cache of endpoint records. */
  replicas: z.int().min(1).max(16),
  /** How long a replica believes a record it has read. */
  ttl_ms: z.number().min(0),
  /** How often the serving state is read from the cluster; between two readings it is stale. */
  infra_refresh_ms: z.number().min(0),
})

const Server = z.strictObject({
  /** As an old server: 409 on an update or delete while another operation is under way. */
  conflict_409: z.boolean(),
  /** An old server has no `status_reason`. */
  status_reason: z.boolean(),
  /** Whether sync and streaming endpoints may have `min_workers` 0. */
  scale_from_zero: z.boolean(),
  /** Refuses a model whose size the name does not tell, when hardware is to be inferred. */
  strict_models: z.boolean(),
  /** Requests at a time; more are answered 429. */
  max_in_flight: z.int().min(1),
})

/** A change of settings: what is left out stays. */
export const SettingsPatch = z.strictObject({
  /** For endpoints that no label, metadata key or assignment gives another profile. */
  default_profile: z.string().optional(),
  cache: Cache.partial().optional(),
  server: Server.partial().optional(),
})

export type SettingsPatch = z.infer<typeof SettingsPatch>
export type Settings = { default_profile: string; cache: z.infer<typeof Cache>; server: z.infer<typeof Server> }

/** Times are the vendor's milliseconds. */
export const defaultSettings = (): Settings => ({
  default_profile: 'happy',
  cache: { enabled: true, replicas: 3, ttl_ms: 15_000, infra_refresh_ms: 15_000 },
  server: {
    conflict_409: false,
    status_reason: true,
    scale_from_zero: false,
    strict_models: false,
    max_in_flight: 500,
  },
})

/** Changes the settings in place. @throws ZodError */
export const applySettings = (settings: Settings, patch: SettingsPatch): Settings => {
  const { default_profile, cache, server } = SettingsPatch.parse(patch)
  if (default_profile !== undefined) settings.default_profile = default_profile
  Object.assign(settings.cache, cache)
  Object.assign(settings.server, server)
  return settings
}
