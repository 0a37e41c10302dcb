import { z } from '@hono/zod-openapi'
import { digits } from '../digits.ts'
import { listOf, listQuery } from '../pagination.ts'
import { route } from '../route.ts'
import { Id, Text } from '../text.ts'
import { CreateModelRequest } from './create-model.ts'
import { DeploymentList } from './deployments.ts'
import { InferenceModel, ModelDeleteResponse } from './model.ts'
import { UpdateModelRequest } from './update-model.ts'
import { InferenceModelVendor } from './vendors.ts'

export const InferenceModelList = listOf('InferenceModelList', InferenceModel)

const tag = 'models'
const params = z.object({ model_id: Id.openapi({ example: 'model_01kaf8zq4te3vbr6k2v9d8m5wn' }) })

const listModelsQuery = listQuery(['created_at', 'name', 'status', 'model_vendor'], {
  name: Text.optional().openapi({ description: 'Only models of exactly this name' }),
  model_vendor: InferenceModelVendor.optional().openapi({ description: 'Only models of this vendor' }),
})

const wait = digits({ minimum: 0, maximum: 60 })
  .optional()
  .openapi({ description: 'Wait this many seconds for the status to leave `deploying`' })

export const models = {
  createModel: route('createModel', 'post', '/v5/models', {
    tag,
    summary: 'Create a model',
    description:
      'A launch or llmengine model answers as `deploying` and becomes `ready`, `failed` or `deployment_timeout` later; a hosted model is `ready` at once.',
    scope: 'models:write',
    body: CreateModelRequest,
    ok: InferenceModel,
    entityTag: true,
    errors: ['model_exists', 'model_deploying', 'feature_disabled'],
  }),
  listModels: route('listModels', 'get', '/v5/models', {
    tag,
    summary: 'List models',
    scope: 'models:read',
    query: listModelsQuery,
    ok: InferenceModelList,
  }),
  getModel: route('getModel', 'get', '/v5/models/{model_id}', {
    tag,
    summary: 'Get a model',
    scope: 'models:read',
    params,
    query: z.object({ wait }),
    ok: InferenceModel,
    entityTag: true,
  }),
  updateModel: route('updateModel', 'patch', '/v5/models/{model_id}', {
    tag,
    summary: 'Update a model: its metadata, its configuration or its name',
    description: 'A new configuration makes the model `deploying` again; metadata and names change at once.',
    scope: 'models:write',
    params,
    body: UpdateModelRequest,
    ok: InferenceModel,
    entityTag: true,
    errors: ['model_exists', 'model_deploying', 'vendor_mismatch'],
  }),
  deleteModel: route('deleteModel', 'delete', '/v5/models/{model_id}', {
    tag,
    summary: 'Delete a model and what serves it',
    description:
      'The deployment at the vendor is torn down first. While that takes longer than the request waits, the answer is 503 `teardown_in_progress`; repeating the request joins the same teardown.',
    scope: 'models:delete',
    params,
    ok: ModelDeleteResponse,
    entityTag: true,
    errors: ['model_deploying', 'teardown_in_progress', 'vendor_error'],
  }),
  listDeployments: route('listDeployments', 'get', '/v5/models/{model_id}/deployments', {
    tag,
    summary: 'List the deployments of a model',
    scope: 'models:read',
    params,
    query: listQuery(['created_at'], {}),
    ok: DeploymentList,
    extension: true,
  }),
}
