import type { Infra, Row } from './endpoint.ts'
import { matchesGlob } from './glob.ts'
import { isImageChecked, isMissingTag } from './model-bundles/bundle.ts'
import type { Profile, Rollout } from './profile.ts'
import { VendorError } from './vendor-error.ts'
import type { World } from './world.ts'

/** The label or metadata key by which a request asks for a profile. */
export const PROFILE_KEY = 'simulator-profile'

const LONGEST_NAME = 63

/** An image the vendor did not look for and that does not exist: workers never start. */
const hasLostImage = (world: World, { bundle_id }: Row): boolean => {
  const flavor = world.bundles.get(bundle_id)?.flavor
  return flavor !== undefined && !isImageChecked(flavor.repository) && isMissingTag(flavor.tag)
}

/**
 * The profile of a request, the first of: an assignment of the control API, metadata, labels, what the image implies,
 * the default.
 *
 * @throws VendorError 400 naming an unknown profile
 */
export const chooseProfile = (world: World, name: string, row: Row, infra: Infra): [name: string, profile: Profile] => {
  const assigned = world.assignments.find(({ endpoint }) => matchesGlob(endpoint, name))?.profile
  const inMetadata = row.metadata[PROFILE_KEY]
  const asked = assigned ?? (typeof inMetadata === 'string' ? inMetadata : infra.labels[PROFILE_KEY])
  const chosen = asked ?? (hasLostImage(world, row) ? 'zero-workers' : world.settings.default_profile)
  const profile = world.profiles.get(chosen)
  if (!profile)
    throw new VendorError(
      400,
      `${PROFILE_KEY} ${chosen} is unknown; there are ${[...world.profiles.keys()].join(', ')}`,
    )
  return [chosen, profile]
}

/** Whether the nth attempt fails, when the first `failFirst` do and `null` means all. */
export const failsAt = (attempt: number, failFirst: number | null): boolean =>
  failFirst === null || attempt <= failFirst

/** What the vendor accepts and the cluster then refuses. */
const clusterRefuses = (name: string, { min_workers, max_workers, per_worker }: Infra): boolean =>
  name.length > LONGEST_NAME || min_workers > max_workers || per_worker < 1

/** Counts the rollout of this name and tells whether it is one of those that fail. */
export const rolloutFails = (world: World, name: string, rollout: Rollout, infra: Infra): boolean => {
  const attempt = (world.rollouts.get(name) ?? 0) + 1
  world.rollouts.set(name, attempt)
  return failsAt(attempt, rollout.fail_first) || clusterRefuses(name, infra)
}
