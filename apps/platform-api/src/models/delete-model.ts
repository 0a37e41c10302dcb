import type { Database } from '@keelson/database'
import { startDeployment, type DeployedVendor } from '@keelson/database/platform'
import { ApiError, notFound, requireMatch, typeId } from '@keelson/service-kit'
import { isUnderWay, refuseWhileDeploying } from './deploy.ts'
import { poll } from './poll.ts'

export type DeleteModel = {
  account_id: string
  model_id: string
  traceparent: string | null
  ifMatch: readonly string[] | null
  signal: AbortSignal
  /** Wakes the deployer for the teardown. */
  ring: (deployment_id: string) => void
  /** How long to wait for the teardown. */
  waitMs: number
}

type Locked = {
  status: 'deploying' | 'ready' | 'failed' | 'deployment_timeout'
  model_vendor: string
  generation: number
  revision: number
  configuration: string | null
}
type Teardown = { kind: string; phase: string; finished_at: string | null; status_message: string | null }

/** Removes a hosted model; starts the teardown of any other, or joins the one under way. `null`: removed at once. */
const beginTeardown = async (
  { sql }: Database,
  { account_id, model_id, traceparent, ifMatch }: DeleteModel,
): Promise<string | null> =>
  sql.begin(async (tx) => {
    const [model] = await tx<Locked[]>`
      select status, model_vendor, generation, revision, vendor_configuration as configuration from platform.models
      where account_id = ${account_id} and id = ${model_id} for update`
    if (!model) return notFound('model')
    requireMatch(ifMatch, model.revision)
    refuseWhileDeploying(model)
    if (model.configuration === null) {
      await tx`delete from platform.models where account_id = ${account_id} and id = ${model_id}`
      return null
    }
    const [teardown] = await tx<{ id: string }[]>`
      select id from platform.deployments
      where account_id = ${account_id} and model_id = ${model_id} and kind = 'delete' and finished_at is null`
    if (teardown) return teardown.id
    const id = typeId('deploy')
    await startDeployment(tx, {
      account_id,
      id,
      model_id,
      kind: 'delete',
      generation: model.generation,
      model_vendor: model.model_vendor as DeployedVendor,
      configuration: model.configuration,
      traceparent,
    })
    return id
  })

const teardownOf = async ({ sql }: Database, account_id: string, id: string): Promise<Teardown | null> => {
  const [row] = await sql<Teardown[]>`
    select kind, phase, finished_at, status_message from platform.deployments where account_id = ${account_id} and id = ${id}`
  return row ?? null
}

/**
 * Deletes a model after what serves it has been torn down at the vendor.
 *
 * @throws ApiError `not_found`, `precondition_failed`, `model_deploying`, `teardown_in_progress` when the wait ends first, `vendor_error` when
 * the vendor refuses
 */
export const deleteModel = async (db: Database, request: DeleteModel): Promise<void> => {
  const { account_id, signal, waitMs, ring } = request
  const teardown_id = await beginTeardown(db, request).catch((error: unknown) => {
    if (isUnderWay(error)) throw new ApiError('teardown_in_progress', undefined, { retryAfterSeconds: 5 })
    throw error
  })
  if (teardown_id === null) return
  ring(teardown_id)
  // The history goes with its model: a teardown that is no longer there has done its work.
  const isOver = (teardown: Teardown | null) => teardown === null || teardown.finished_at !== null
  const teardown = await poll(() => teardownOf(db, account_id, teardown_id), isOver, { waitMs, signal })
  if (teardown === null) return
  if (teardown.finished_at === null) {
    throw new ApiError('teardown_in_progress', teardown.status_message ?? undefined, { retryAfterSeconds: 5 })
  }
  throw new ApiError('vendor_error', teardown.status_message ?? 'The serving vendor did not remove the deployment')
}
