import { Profile, type ProfileInput } from './profile.ts'

const HOUR_MS = 3_600_000

const IMAGE_NOT_FOUND = "Image build failed. Check that the bundle's image and dependencies are valid and accessible."

const built: Record<string, ProfileInput> = {
  happy: { description: 'READY after 10 s, workers 5 s later' },
  instant: {
    description: 'READY and serving at once, deleted at once',
    create: { pending_ms: 0, in_progress_ms: 0, workers: { after_ms: 0 } },
    delete: { duration_ms: 0 },
  },
  slow: { description: 'READY only after two hours', create: { in_progress_ms: 2 * HOUR_MS } },
  'slow-workers': {
    description: 'READY after 10 s, then one worker a minute',
    create: { workers: { after_ms: 60_000, one_by_one_ms: 60_000 } },
  },
  'fail-build': {
    description: 'UPDATE_FAILED with a reason',
    create: { fail_first: null, status_reason: IMAGE_NOT_FOUND },
  },
  'fail-build-generic': {
    description: 'UPDATE_FAILED with the reason that says nothing',
    create: { fail_first: null },
  },
  'fails-first': { description: 'the first rollout fails, the next one succeeds', create: { fail_first: 1 } },
  'stuck-pending': { description: 'UPDATE_PENDING for ever', create: { pending_ms: null } },
  'stuck-in-progress': { description: 'UPDATE_IN_PROGRESS for ever', create: { in_progress_ms: null } },
  'zero-workers': {
    description: 'READY, and no worker ever comes up; an update stops the old ones',
    create: { workers: { after_ms: null, replaces_old: true } },
  },
  'crash-loop': {
    description: 'READY, workers flap between all and none every 20 s; an update stops the old ones',
    create: { workers: { flap_ms: 20_000, replaces_old: true } },
  },
  'scale-to-zero': {
    description: 'READY, at least one worker comes up and leaves after a minute',
    create: { workers: { at_least: 1, lost_after_ms: 60_000 } },
  },
  'multi-node': {
    description: 'READY, and workers are told as available at once though none serves',
    create: { workers: { after_ms: 0, at_least: 1, serves: false } },
  },
  'update-fails': {
    description: 'a create goes well; an update ends UPDATE_FAILED and the old version keeps serving',
    update: { fail_first: null, status_reason: IMAGE_NOT_FOUND },
  },
  'infra-late': {
    description: 'serving state unknown for 2 minutes after READY; an update meets 500 meanwhile',
    create: { infra_delay_ms: 120_000 },
  },
  'delete-slow': { description: 'a delete takes 40 s', delete: { duration_ms: 40_000 } },
  'delete-500-once': {
    description: 'the first delete answers 500 and leaves UPDATE_FAILED, the next one succeeds',
    delete: { fail_first: 1 },
  },
  'delete-fails': {
    description: 'every delete answers 500 and leaves UPDATE_FAILED',
    delete: { fail_first: null },
  },
}

/** The profiles every simulator starts with, by name. */
export const builtInProfiles = (): Map<string, Profile> =>
  new Map(Object.entries(built).map(([name, profile]) => [name, Profile.parse(profile)]))
