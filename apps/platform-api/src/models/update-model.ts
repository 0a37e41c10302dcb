import { jsonTextOf } from '@keelson/contracts'
import type { UpdateModelRequest } from '@keelson/contracts/platform'
import { retryingDeadlocks, type Database, type Transaction } from '@keelson/database'
import { notFound, requireMatch } from '@keelson/service-kit'
import { isNameTaken, nameTaken, type Accepted } from './create-model.ts'
import { reconfigure, refuseWhileDeploying } from './deploy.ts'
import { mergedConfiguration } from './merged-configuration.ts'
import { MODEL_COLUMNS, type ModelRow } from './model-row.ts'

export type UpdateModel = {
  account_id: string
  model_id: string
  change: UpdateModelRequest
  traceparent: string | null
  ifMatch: readonly string[] | null
}

const lockIfThere = async (tx: Transaction, account_id: string, model_id: string): Promise<ModelRow | undefined> => {
  const [model] = await tx<ModelRow[]>`
    select ${tx(MODEL_COLUMNS)} from platform.models where account_id = ${account_id} and id = ${model_id} for update`
  return model
}

const lock = async (tx: Transaction, account_id: string, model_id: string): Promise<ModelRow> =>
  (await lockIfThere(tx, account_id, model_id)) ?? notFound('model')

type Rename = Pick<UpdateModel, 'account_id' | 'model_id' | 'ifMatch'> & { name: string; swap: boolean }

const namesakeOf = async (
  tx: Transaction,
  { account_id, model_id, name }: Pick<Rename, 'account_id' | 'model_id' | 'name'>,
) => {
  const [namesake] = await tx<{ id: string }[]>`
    select id from platform.models
    where account_id = ${account_id} and name between ${name} and ${name} and model_vendor = (
      select model_vendor from platform.models where account_id = ${account_id} and id = ${model_id})
    order by name`
  return namesake?.id
}

/** Both rows are locked in the order of their ids, so that two crossing swaps wait for each other. */
const lockRenamed = async (tx: Transaction, request: Omit<Rename, 'ifMatch'>) => {
  const { account_id, model_id, name, swap } = request
  const namesake = swap ? await namesakeOf(tx, request) : undefined
  const rows = new Map<string, ModelRow | undefined>()
  for (const id of [model_id, namesake ?? model_id].toSorted()) rows.set(id, await lockIfThere(tx, account_id, id))
  const model = rows.get(model_id) ?? notFound('model')
  // By the time it is locked it may be gone, or have another name.
  const other = namesake === undefined || namesake === model_id ? undefined : rows.get(namesake)
  return { model, other: other?.name === name ? other : undefined }
}

const rename = async (tx: Transaction, request: Rename): Promise<ModelRow> => {
  const { account_id, model_id, name } = request
  const { model, other } = await lockRenamed(tx, request)
  requireMatch(request.ifMatch, model.revision)
  refuseWhileDeploying(model)
  if (other) refuseWhileDeploying(other)
  if (model.name === name) return model
  const renamed = await tx<ModelRow[]>`
    update platform.models set name = case when id = ${model_id} then ${name} else ${model.name} end, updated_at = now()
    where account_id = ${account_id} and id in ${tx([model_id, other?.id ?? model_id])} returning ${tx(MODEL_COLUMNS)}`
  return renamed.find(({ id }) => id === model_id) as ModelRow
}

const setMetadata = async (
  tx: Transaction,
  account_id: string,
  model: ModelRow,
  metadata: string,
): Promise<ModelRow> => {
  const [updated] = await tx<ModelRow[]>`
    update platform.models set model_metadata = ${metadata}, updated_at = now()
    where account_id = ${account_id} and id = ${model.id} returning ${tx(MODEL_COLUMNS)}`
  return updated as ModelRow
}

const apply = async (
  tx: Transaction,
  { account_id, model_id, change, traceparent, ifMatch }: UpdateModel,
): Promise<Accepted> => {
  if (change.change === 'name') {
    const swap = change.on_conflict === 'swap'
    return { model: await rename(tx, { account_id, model_id, name: change.name, swap, ifMatch }), deployment_id: null }
  }
  const model = await lock(tx, account_id, model_id)
  requireMatch(ifMatch, model.revision)
  const metadata = change.model_metadata === undefined ? null : jsonTextOf(change.model_metadata)
  if (change.change === 'metadata' && metadata === null) return { model, deployment_id: null }
  refuseWhileDeploying(model)
  if (change.change === 'metadata') {
    return { model: await setMetadata(tx, account_id, model, metadata ?? '{}'), deployment_id: null }
  }
  const configuration = mergedConfiguration(model, change.vendor_configuration)
  return reconfigure(tx, {
    account_id,
    model,
    configuration,
    model_metadata: metadata ?? model.model_metadata,
    traceparent,
  })
}

/**
 * Changes a model's metadata, name or configuration; only a configuration starts a deployment.
 *
 * @throws ApiError `not_found`, `precondition_failed`, `model_deploying`, `model_exists`, `vendor_mismatch`, `invalid_request` for a merged
 * configuration that the vendor would refuse
 */
export const updateModel = async (db: Database, request: UpdateModel): Promise<Accepted> => {
  const { change } = request
  for (;;) {
    try {
      return await retryingDeadlocks(() => db.sql.begin((tx) => apply(tx, request)))
    } catch (error) {
      if (!isNameTaken(error)) throw error
      // A swap whose name somebody else has taken since is one with them.
      if (change.change !== 'name' || change.on_conflict !== 'swap') return nameTaken()
    }
  }
}
