import type { Hono } from 'hono'
import { mount, type Call, type Handler } from '../call.ts'
import { deleteEndpoint } from '../delete-endpoint.ts'
import { endpointBody } from '../endpoint-view.ts'
import { latestRollout } from '../endpoint.ts'
import { ORDERS, type EndpointRecord, type Order } from '../records.ts'
import { VendorError } from '../vendor-error.ts'
import type { World } from '../world.ts'
import { liveEndpoint, noteOverlap } from '../write-endpoint.ts'
import { createGenericEndpoint } from './create.ts'
import { updateGenericEndpoint } from './update.ts'

/** @throws VendorError 422 for an order the vendor does not know */
export const orderOf = (call: Call): Order | null => {
  const text = call.query('order_by')
  const order = ORDERS.find((order) => order === text) ?? null
  if (text === null || order !== null) return order
  const msg = "Input should be 'newest', 'oldest' or 'alphabetical'"
  throw new VendorError(422, [{ type: 'enum', loc: ['query', 'order_by'], msg, input: text }])
}

/** An endpoint of the caller. @throws VendorError 404 */
const ownRecord = (call: Call, detail: string): EndpointRecord => {
  const record = call.world.records.byId(call.replica, call.param('id'))
  if (record?.owner !== call.owner) throw new VendorError(404, detail)
  return record
}

const notFound = (call: Call) => `Model Endpoint ${call.param('id')}  was not found.`

const listEndpoints: Handler = (call) => {
  const records = call.world.records.list(call.replica, call.owner, call.query('name'), orderOf(call))
  return { model_endpoints: records.map((record) => endpointBody(call.world, record)) }
}

const getEndpoint: Handler = (call) => endpointBody(call.world, ownRecord(call, notFound(call)))

const removeEndpoint: Handler = (call) => {
  const endpoint = liveEndpoint(call, ownRecord(call, notFound(call)), notFound(call))
  return deleteEndpoint(call, endpoint, 'deletion of endpoint failed, compute resources still exist.')
}

const restartEndpoint: Handler = (call) => {
  const id = call.param('id')
  const detail = `Model Endpoint ${id} was not found.`
  const endpoint = liveEndpoint(call, ownRecord(call, detail), detail)
  if (latestRollout(endpoint).infra.nodes_per_worker > 1)
    throw new VendorError(400, `Restarting model endpoint ${id} is not supported`)
  noteOverlap(call, endpoint)
  return { restarted: true }
}

export const endpointRoutes = (app: Hono, world: World): void => {
  mount(app, world, 'endpoints.create', createGenericEndpoint)
  mount(app, world, 'endpoints.list', listEndpoints)
  mount(app, world, 'endpoints.get', getEndpoint)
  mount(app, world, 'endpoints.update', (call) => updateGenericEndpoint(call, (detail) => ownRecord(call, detail)))
  mount(app, world, 'endpoints.delete', removeEndpoint)
  mount(app, world, 'endpoints.restart', restartEndpoint)
}
