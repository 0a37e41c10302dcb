import { constraintOf, type Transaction } from '@keelson/database'
import { DEPLOYMENT_ACTIVE_KEY, startDeployment, type DeployedVendor } from '@keelson/database/platform'
import { ApiError, typeId } from '@keelson/service-kit'
import { MODEL_COLUMNS, type ModelRow } from './model-row.ts'

/** @throws ApiError `model_deploying`: nothing about a model changes while it deploys or is being torn down */
export const refuseWhileDeploying = ({ status }: Pick<ModelRow, 'status'>): void => {
  if (status === 'deploying') stillDeploying()
}

export const stillDeploying = (): never => {
  throw new ApiError('model_deploying', 'The model is deploying; try again when its status has changed', {
    retryAfterSeconds: 10,
  })
}

/** Whether a write failed because a deployment of the model is under way. */
export const isUnderWay = (error: unknown): boolean => constraintOf(error) === DEPLOYMENT_ACTIVE_KEY

export type Reconfigure = {
  account_id: string
  /** Locked by the caller's transaction. */
  model: ModelRow
  /** The whole new configuration, as JSON text. */
  configuration: string
  model_metadata: string | null
  traceparent: string | null
}

/**
 * Gives a model its next configuration and starts the deployment of it, in the caller's transaction.
 *
 * @throws ApiError `model_deploying` while another deployment of the model, a teardown included, is under way
 */
export const reconfigure = async (tx: Transaction, { account_id, model, ...next }: Reconfigure) => {
  refuseWhileDeploying(model)
  const deployment_id = typeId('deploy')
  const [updated] = await tx<ModelRow[]>`
    update platform.models
    set status = 'deploying', status_reason = null, observe_at = null, generation = generation + 1,
      vendor_configuration = ${next.configuration}, model_metadata = ${next.model_metadata}, updated_at = now()
    where account_id = ${account_id} and id = ${model.id} returning ${tx(MODEL_COLUMNS)}`
  const deploying = updated as ModelRow
  try {
    await startDeployment(tx, {
      account_id,
      id: deployment_id,
      model_id: model.id,
      kind: 'update',
      generation: deploying.generation,
      model_vendor: deploying.model_vendor as DeployedVendor,
      configuration: next.configuration,
      traceparent: next.traceparent,
    })
  } catch (error) {
    if (isUnderWay(error)) stillDeploying()
    throw error
  }
  return { model: deploying, deployment_id }
}
