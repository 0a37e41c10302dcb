import type { Hono } from 'hono'
import { mount, type Handler } from '../call.ts'
import { deleteEndpoint } from '../delete-endpoint.ts'
import { endpointBody } from '../endpoint-view.ts'
import { orderOf } from '../model-endpoints/routes.ts'
import type { EndpointRecord } from '../records.ts'
import { VendorError } from '../vendor-error.ts'
import type { World } from '../world.ts'
import { liveEndpoint } from '../write-endpoint.ts'
import { createLlmEndpoint } from './create.ts'
import { llmSettingsOf } from './settings.ts'
import { updateLlmEndpoint } from './update.ts'

const llmBody = (world: World, record: EndpointRecord) => {
  const settings = llmSettingsOf(record)
  return {
    id: record.id,
    name: record.name,
    model_name: settings.model_name,
    source: settings.source,
    status: record.status,
    inference_framework: settings.inference_framework,
    inference_framework_image_tag: settings.inference_framework_image_tag,
    num_shards: settings.num_shards,
    quantize: settings.quantize,
    checkpoint_path: settings.checkpoint_path,
    chat_template_override: settings.chat_template_override,
    task_expires_seconds: record.task_expires_seconds,
    queue_message_timeout_seconds: record.queue_message_timeout_seconds,
    spec: endpointBody(world, record),
  }
}

const listEndpoints: Handler = (call) => {
  const records = call.world.records.listLlm(call.replica, call.owner, call.query('name'), orderOf(call))
  return { model_endpoints: records.map((record) => llmBody(call.world, record)) }
}

const getEndpoint: Handler = (call) => {
  const name = call.param('name')
  const record = call.world.records.llmByName(call.replica, name)
  if (!record || (record.owner !== call.owner && !record.public_inference))
    throw new VendorError(404, `Model Endpoint ${name}  was not found.`)
  return llmBody(call.world, record)
}

/** Goes by the list, which the replica may still have from before the create. */
const removeEndpoint: Handler = (call) => {
  const detail = 'The requested model endpoint could not be found.'
  const [record] = call.world.records.listLlm(call.replica, call.owner, call.param('name'), null)
  if (!record) throw new VendorError(404, detail)
  if (record.owner !== call.owner)
    throw new VendorError(403, "You don't have permission to delete the requested model endpoint.")
  return deleteEndpoint(call, liveEndpoint(call, record, detail), 'deletion of endpoint failed.')
}

export const llmRoutes = (app: Hono, world: World): void => {
  mount(app, world, 'llm.create', createLlmEndpoint)
  mount(app, world, 'llm.list', listEndpoints)
  mount(app, world, 'llm.get', getEndpoint)
  mount(app, world, 'llm.update', updateLlmEndpoint)
  mount(app, world, 'llm.delete', removeEndpoint)
}
