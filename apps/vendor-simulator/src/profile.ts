import { z } from 'zod'

const DurationMs = z.number().min(0)

/** How workers come up, counted from the moment the endpoint turns READY. Times are the vendor's milliseconds. */
const Workers = z.object({
  /** Until the first worker is available; `null` = none ever is. */
  after_ms: DurationMs.nullable().default(5_000),
  /** Between one worker and the next; 0 = all at once. */
  one_by_one_ms: DurationMs.default(0),
  /** They crash and come back this often; 0 = they stay. */
  flap_ms: DurationMs.default(0),
  /** They go away for good this long after they came; `null` = never. */
  lost_after_ms: DurationMs.nullable().default(null),
  /** Whether the old version's workers stop at READY instead of serving until the new ones do. */
  replaces_old: z.boolean().default(false),
  /** At least this many are started, even when `min_workers` is lower. */
  at_least: z.int().min(0).default(0),
  /** Whether a worker that is told as available answers requests. */
  serves: z.boolean().default(true),
})

/** What a create or an update goes through. `null` = that phase never ends. */
const Rollout = z.object({
  pending_ms: DurationMs.nullable().default(2_000),
  in_progress_ms: DurationMs.nullable().default(8_000),
  /** How many rollouts of one endpoint name fail before one succeeds; `null` = all. */
  fail_first: z.int().min(0).nullable().default(0),
  /** Shown with UPDATE_FAILED. */
  status_reason: z.string().max(500).default('Endpoint deployment failed due to an internal error.'),
  /** How long after READY the serving state (`deployment_state`, `resource_state`, labels) stays unknown. */
  infra_delay_ms: DurationMs.default(0),
  workers: Workers.prefault({}),
})

const Teardown = z.object({
  duration_ms: DurationMs.default(1_000),
  /** How many deletes of one endpoint name fail before one succeeds; `null` = all. */
  fail_first: z.int().min(0).nullable().default(0),
})

/** What an endpoint does after each request; `update` left out = as `create`. */
export const Profile = z.object({
  description: z.string().default(''),
  create: Rollout.prefault({}),
  update: Rollout.nullable().default(null),
  delete: Teardown.prefault({}),
})

export type Workers = z.infer<typeof Workers>
export type Rollout = z.infer<typeof Rollout>
export type Teardown = z.infer<typeof Teardown>
export type Profile = z.infer<typeof Profile>
export type ProfileInput = z.input<typeof Profile>
