import type { Call } from './call.ts'
import { chooseProfile, rolloutFails } from './choose-profile.ts'
import {
  addOperation,
  generationOf,
  latestRollout,
  type Endpoint,
  type Infra,
  type RolloutOperation,
  type Row,
} from './endpoint.ts'
import type { Request } from './invariants.ts'
import { isBusy, rowAt } from './lifecycle.ts'
import type { EndpointRecord } from './records.ts'
import { UncaughtError, VendorError } from './vendor-error.ts'
import type { World } from './world.ts'

/** The writes that both vendors' routes share, once their own checks have passed. */

export type NewEndpoint = Pick<Endpoint, 'flavour' | 'name' | 'endpoint_type'> & { row: Row; infra: Infra }
export type Change = { row: Row; infra: Infra }

const requestOf = ({ entry }: Call, endpoint: string): Request => ({
  seq: entry.seq,
  at_ms: entry.at_ms,
  endpoint,
  generation: entry.generation,
})

const startRollout = (
  { world }: Call,
  kind: RolloutOperation['kind'],
  name: string,
  change: Change,
): RolloutOperation => {
  const [profileName, profile] = chooseProfile(world, name, change.row, change.infra)
  const rollout = (kind === 'update' && profile.update) || profile.create
  return {
    kind,
    task_id: world.random.uuid(),
    generation: generationOf(change.row.metadata),
    profile: profileName,
    startedMs: world.clock.now(),
    startedWallMs: world.clock.wall(),
    rollout,
    fails: rolloutFails(world, name, rollout, change.infra),
    ...change,
  }
}

const publish = (call: Call, name: string, { row, infra }: Change): void => {
  const { _llm, ...metadata } = row.metadata
  call.world.invariants.published(requestOf(call, name), 'metadata', metadata)
  call.world.invariants.published(requestOf(call, name), 'labels', infra.labels)
}

const refuseTaken = ({ world, owner, replica }: Call, { name, flavour }: NewEndpoint): void => {
  // The vendor looks in its cache, and only the database knows better.
  if (world.records.list(replica, owner, name, null).length > 0)
    throw new VendorError(400, 'The specified model endpoint already exists.')
  for (const taken of world.endpoints.values())
    if (taken.name === name && (taken.owner === owner || (flavour === 'llm' && taken.flavour === 'llm')))
      throw new UncaughtError('The name is taken, which the cache did not know')
}

/** @throws VendorError 400 when it exists, or UncaughtError when only the database knows that it does */
export const createEndpoint = (call: Call, endpoint: NewEndpoint) => {
  const { world, owner, replica, entry } = call
  refuseTaken(call, endpoint)
  const { row, infra, ...identity } = endpoint
  const operation = startRollout(call, 'create', endpoint.name, { row, infra })
  const created: Endpoint = {
    id: `end_${world.random.xid()}`,
    ...identity,
    owner,
    createdWallMs: operation.startedWallMs,
    operations: [operation],
    forcedWorkers: null,
  }
  world.endpoints.set(created.id, created)
  world.records.written(replica, created)
  entry.committed = true
  world.invariants.created(requestOf(call, created.name))
  publish(call, created.name, endpoint)
  return { endpoint_creation_task_id: operation.task_id }
}

/** @throws VendorError 409 on an old server while another operation is under way */
export const refuseConflict = ({ settings, clock }: World, endpoint: Endpoint): void => {
  if (settings.server.conflict_409 && isBusy(endpoint, clock.now()))
    throw new VendorError(409, 'Existing operation on endpoint in progress, try again later.')
}

/** Records a write over an operation that is still under way; the vendor itself lets them race. */
export const noteOverlap = (call: Call, endpoint: Endpoint): void => {
  const { clock, invariants } = call.world
  if (!isBusy(endpoint, clock.now())) return
  const { status } = rowAt(endpoint, clock.now())
  const { generation } = latestRollout(endpoint)
  invariants.overlapped(requestOf(call, endpoint.name), `was ${status} for generation ${generation ?? 'unknown'}`)
}

/** @returns the endpoint a record tells of. @throws VendorError 404 when it is gone */
export const liveEndpoint = ({ world }: Call, record: EndpointRecord, notFound: string): Endpoint => {
  const endpoint = world.endpoints.get(record.id)
  if (!endpoint) throw new VendorError(404, notFound)
  return endpoint
}

/** @throws VendorError 409 on an old server while another operation is under way */
export const updateEndpoint = (call: Call, endpoint: Endpoint, change: Change) => {
  const { world, replica, entry } = call
  refuseConflict(world, endpoint)
  const operation = startRollout(call, 'update', endpoint.name, change)
  noteOverlap(call, endpoint)
  addOperation(endpoint, operation)
  world.records.written(replica, endpoint)
  entry.committed = true
  publish(call, endpoint.name, change)
  return { endpoint_creation_task_id: operation.task_id }
}
