import { jsonTextOf, writeJson } from '@keelson/contracts'
import type { CreateModelRequest } from '@keelson/contracts/platform'
import { constraintOf, retryingDeadlocks, type Database, type Transaction } from '@keelson/database'
import { DEPLOYED_VENDORS, MODEL_NAME_KEY, type DeployedVendor } from '@keelson/database/platform'
import { ApiError, typeId, type Principal } from '@keelson/service-kit'
import { reconfigure } from './deploy.ts'
import type { ModelInserts } from './insert-models.ts'
import { replacedConfiguration } from './merged-configuration.ts'
import { MODEL_COLUMNS, type ModelRow } from './model-row.ts'

export type CreateModel = {
  body: CreateModelRequest
  principal: Principal
  traceparent: string | null
  nativeInferenceGateway: boolean
}

/** A model, and the deployment to wake the deployer for. */
export type Accepted = { model: ModelRow; deployment_id: string | null }

const isDeployed = (vendor: string): vendor is DeployedVendor =>
  DEPLOYED_VENDORS.some((deployed) => deployed === vendor)

export const nameTaken = (): never => {
  throw new ApiError('model_exists', 'Another model of this vendor has the name')
}

/** Whether a write failed because another model of the vendor has the name. */
export const isNameTaken = (error: unknown): boolean => constraintOf(error) === MODEL_NAME_KEY

const insertModel = async (insert: ModelInserts, { body, principal, traceparent }: CreateModel): Promise<Accepted> => {
  const { name, model_type, model_vendor } = body
  const deploys = isDeployed(model_vendor)
  const deployment_id = deploys ? typeId('deploy') : null
  const model: Omit<ModelRow, 'created_at'> = {
    id: typeId('model'),
    name,
    model_type,
    model_vendor,
    model_metadata: body.model_metadata === undefined ? null : jsonTextOf(body.model_metadata),
    vendor_configuration: deploys ? writeJson(body.vendor_configuration) : null,
    status: deploys ? 'deploying' : 'ready',
    status_reason: null,
    model_availability: deploys ? 'unavailable' : 'available',
    generation: deploys ? 1 : 0,
    revision: 1,
    created_by_identity_type: principal.identity_type,
    created_by_user_id: principal.identity_id,
  }
  const created_at = await insert({ ...model, account_id: principal.account_id, deployment_id, traceparent })
  return { model: { ...model, created_at }, deployment_id }
}

/** `on_conflict: update`: the request's metadata and whole configuration replace those of the model that has the name. */
const updateNamesake = async (
  tx: Transaction,
  { body, principal, traceparent }: CreateModel,
): Promise<Accepted | null> => {
  const { account_id } = principal
  const [model] = await tx<ModelRow[]>`
    select ${tx(MODEL_COLUMNS)} from platform.models
    where account_id = ${account_id} and model_vendor = ${body.model_vendor} and name between ${body.name} and ${body.name}
    order by name for update`
  if (!model) return null
  const model_metadata = body.model_metadata === undefined ? model.model_metadata : jsonTextOf(body.model_metadata)
  if (isDeployed(body.model_vendor)) {
    return reconfigure(tx, {
      account_id,
      model,
      configuration: replacedConfiguration(model, body),
      model_metadata,
      traceparent,
    })
  }
  const [updated] = await tx<ModelRow[]>`
    update platform.models set model_type = ${body.model_type}, model_metadata = ${model_metadata}, updated_at = now()
    where account_id = ${account_id} and id = ${model.id} returning ${tx(MODEL_COLUMNS)}`
  return { model: updated as ModelRow, deployment_id: null }
}

/**
 * Creates a model, or updates its namesake when the request says so.
 *
 * @throws ApiError `feature_disabled` for a hosted model without the gateway, `model_exists`, `model_deploying`
 */
export const createModel = async (
  { db, insert }: { db: Database; insert: ModelInserts },
  request: CreateModel,
): Promise<Accepted> => {
  const { body, nativeInferenceGateway } = request
  if (!isDeployed(body.model_vendor) && !nativeInferenceGateway) {
    throw new ApiError('feature_disabled', 'Hosted models need the native inference gateway, which is switched off')
  }
  for (;;) {
    try {
      return await insertModel(insert, request)
    } catch (error) {
      if (!isNameTaken(error)) throw error
      if (body.on_conflict === 'error') return nameTaken()
    }
    // The namesake may be gone or renamed by now; then the name is free to insert.
    const updated = await retryingDeadlocks(() => db.sql.begin((tx) => updateNamesake(tx, request)))
    if (updated) return updated
  }
}
