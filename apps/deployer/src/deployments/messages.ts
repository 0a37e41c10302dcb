import type { ActivePhase, ReasonCode } from '@keelson/database/platform'
import type { Endpoint } from '../vendors/vendor.ts'

const startingMessage = (workers: Endpoint['workers']): string =>
  workers === null
    ? 'The deployment is built; the serving vendor has not counted its workers yet.'
    : `The deployment is built; ${workers.available} of ${workers.wanted} workers are available.`

const PROGRESS: Record<Exclude<ActivePhase, 'starting'>, string> = {
  queued: 'Waiting for the serving vendor to take the deployment.',
  submitted: 'The serving vendor has taken the deployment and not begun to build it.',
  building: 'The serving vendor is building the deployment.',
  verifying: 'All workers are available; looking once more before the model is called ready.',
  tearing_down: 'The serving vendor is removing the deployment.',
}

/** What a model's `status_reason` says while its deployment is under way. */
export const progressMessage = (phase: ActivePhase, workers: Endpoint['workers']): string =>
  phase === 'starting' ? startingMessage(workers) : PROGRESS[phase]

/** What happened, and what the reader can do about it. */
const MESSAGES: Record<ReasonCode, string> = {
  build_failed: 'The serving vendor could not build the deployment. Correct the configuration and update the model.',
  build_timeout: 'The serving vendor did not finish building in time. Update the model to try again.',
  credential_not_found:
    'The configuration refers to a credential that does not exist. Create it, then update the model.',
  credential_unavailable: 'A credential of the configuration cannot be read at the moment; trying again.',
  endpoint_missing: 'The deployment disappeared at the serving vendor. Update the model to deploy it again.',
  endpoint_overwritten:
    'Somebody else changed the deployment at the serving vendor. Update the model to deploy it again.',
  image_not_found: 'The serving vendor finds no such image. Check registry, repository and tag, then update the model.',
  internal_error: 'The deployment failed on our side. Update the model to try again.',
  no_workers:
    'The deployment was built but too few workers came up in time. Check that the image starts, answers its health check and fits its resources.',
  queue_timeout: 'The serving vendor did not take the deployment in time. Update the model to try again.',
  superseded: 'Another request took over.',
  teardown_timeout: 'The serving vendor did not remove the deployment in time. Delete the model again.',
  vendor_busy: 'The serving vendor is busy with this deployment; trying again.',
  vendor_error: 'The serving vendor failed. Correct the configuration if its message names it, then update the model.',
  vendor_not_configured: 'This installation has no connection to the serving vendor. Ask its operator to set one up.',
  vendor_rejected: 'The serving vendor refused the request. Correct the configuration and update the model.',
  vendor_unauthorized: "The serving vendor refused this installation's API key. Ask its operator to replace it.",
  vendor_unavailable: 'The serving vendor cannot be reached or is overloaded; trying again.',
}

/** The words for a reason, with what is known in detail: the vendor's own words, the name of a credential. */
export const reasonMessage = (reason: ReasonCode, detail: string | null = null): string =>
  detail ? `${MESSAGES[reason]} Details: ${detail}` : MESSAGES[reason]

/** The words for running out of time, with the state that lasted too long. */
export const timeoutMessage = (reason: ReasonCode, lastState: string | null): string =>
  lastState ? `${MESSAGES[reason]} Last state: ${lastState}` : MESSAGES[reason]
