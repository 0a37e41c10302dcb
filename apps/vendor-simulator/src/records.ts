import { latestRollout, type Endpoint, type EndpointType, type JsonObject, type Status } from './endpoint.ts'
import { rowAt } from './lifecycle.ts'
import type { RecordCache } from './record-cache.ts'
import type { Clock } from './clock.ts'

export const ORDERS = ['newest', 'oldest', 'alphabetical'] as const
export type Order = (typeof ORDERS)[number]

/** A row as one server process has read it; it does not change afterwards. */
export type EndpointRecord = Readonly<{
  id: string
  name: string
  flavour: Endpoint['flavour']
  owner: string
  endpoint_type: EndpointType
  createdWallMs: number
  updatedWallMs: number
  status: Status
  status_reason: string | null
  everReady: boolean
  bundle_id: string
  metadata: JsonObject
  public_inference: boolean
  task_expires_seconds: number | null
  queue_message_timeout_seconds: number | null
}>

export const recordOf = (endpoint: Endpoint, clock: Clock): EndpointRecord => {
  const { operation, updatedWallOffsetMs, ...state } = rowAt(endpoint, clock.now())
  const { id, name, flavour, owner, endpoint_type, createdWallMs } = endpoint
  const updatedWallMs = Math.min(clock.wall(), operation.startedWallMs + clock.realMs(updatedWallOffsetMs))
  return {
    id,
    name,
    flavour,
    owner,
    endpoint_type,
    createdWallMs,
    updatedWallMs,
    ...state,
    ...latestRollout(endpoint).row,
  }
}

const ordered = (records: EndpointRecord[], order: Order | null): EndpointRecord[] => {
  if (order === 'newest') return records.toReversed()
  return order === 'alphabetical' ? records.toSorted((one, other) => (one.name < other.name ? -1 : 1)) : records
}

/** The endpoints as the vendor's routes see them: through the cache of the replica that happens to answer. */
export type Records = {
  byId: (replica: number, id: string) => EndpointRecord | null
  llmByName: (replica: number, name: string) => EndpointRecord | null
  list: (replica: number, owner: string, name: string | null, order: Order | null) => EndpointRecord[]
  /** An owner's LLM endpoints and the public ones of everybody. */
  listLlm: (replica: number, owner: string, name: string | null, order: Order | null) => EndpointRecord[]
  /** After a write: the replica that did it knows the row by id, and only by id. */
  written: (replica: number, endpoint: Endpoint) => void
  removed: (replica: number, id: string) => void
}

export const createRecords = (endpoints: ReadonlyMap<string, Endpoint>, cache: RecordCache, clock: Clock): Records => {
  const select = (order: Order | null, wanted: (endpoint: Endpoint) => boolean) => {
    const found: EndpointRecord[] = []
    for (const endpoint of endpoints.values()) if (wanted(endpoint)) found.push(recordOf(endpoint, clock))
    return ordered(found, order)
  }
  const one = (endpoint: Endpoint | undefined) => (endpoint ? recordOf(endpoint, clock) : null)
  const isLlm = ({ flavour }: Endpoint) => flavour === 'llm'
  const isPublic = (endpoint: Endpoint) => latestRollout(endpoint).row.public_inference
  return {
    byId: (replica, id) => cache.read(replica, id, () => one(endpoints.get(id))),
    llmByName: (replica, name) =>
      cache.read(replica, `llm ${name}`, () => select(null, (it) => isLlm(it) && it.name === name)[0] ?? null),
    list: (replica, owner, name, order) =>
      cache.read(replica, JSON.stringify(['list', owner, name, order]), () =>
        select(order, (it) => it.owner === owner && (name === null || it.name === name)),
      ),
    listLlm: (replica, owner, name, order) =>
      cache.read(replica, JSON.stringify(['llm', owner, name, order]), () =>
        select(order, (it) => isLlm(it) && (name === null || it.name === name) && (it.owner === owner || isPublic(it))),
      ),
    written: (replica, endpoint) => cache.write(replica, endpoint.id, recordOf(endpoint, clock)),
    removed: (replica, id) => cache.drop(replica, id),
  }
}
