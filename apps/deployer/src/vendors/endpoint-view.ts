import { isFacts, malformed, type Facts } from './answers.ts'
import type { Endpoint, Spec } from './vendor.ts'

const STATES: Readonly<Record<string, Endpoint['state']>> = {
  READY: 'ready',
  UPDATE_PENDING: 'pending',
  UPDATE_IN_PROGRESS: 'building',
  UPDATE_FAILED: 'failed',
  DELETE_IN_PROGRESS: 'deleting',
}

const MODEL_STAMP = 'keelson_model_id'
const GENERATION_STAMP = 'keelson_generation'
const MODEL_ID = /^model_[0-9a-z]{26}$/

/** Stored and returned by the vendor in one row with the status, so that reading both at once proves whose status it is. */
export const stamp = ({ model_id, generation }: Spec) => ({
  [MODEL_STAMP]: model_id,
  [GENERATION_STAMP]: String(generation),
})

/** The models that the entries of a vendor's list belong to; entries of others are passed over. */
export const stampedModels = (body: unknown, descriptionOf: (entry: Facts) => unknown): string[] => {
  const listed = isFacts(body) ? body['model_endpoints'] : undefined
  if (!Array.isArray(listed)) throw malformed('list of endpoints')
  return listed.flatMap((entry: unknown) => {
    const description = isFacts(entry) ? descriptionOf(entry) : undefined
    const metadata = isFacts(description) ? description['metadata'] : undefined
    const model_id = isFacts(metadata) ? metadata[MODEL_STAMP] : undefined
    return typeof model_id === 'string' && MODEL_ID.test(model_id) ? [model_id] : []
  })
}

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

const workersOf = (counts: unknown, status: string, wanted: number): Endpoint['workers'] => {
  if (isFacts(counts)) {
    return { available: count(counts['available_workers']), unavailable: count(counts['unavailable_workers']), wanted }
  }
  // Where none is wanted there is nothing to count.
  return wanted === 0 && status === 'READY' ? { available: 0, unavailable: 0, wanted } : null
}

/**
 * Reads the vendor's generic description of an endpoint. A status nobody knows counts as still building.
 *
 * @param wanted how many workers the configuration asks for
 * @throws VendorError when the answer lacks the status or the metadata, which say what it is about
 */
export const endpointView = (description: unknown, status: unknown, wanted: number): Endpoint => {
  if (!isFacts(description) || !isFacts(description['metadata'])) throw malformed('metadata')
  if (typeof status !== 'string') throw malformed('status')
  const generation = Number(description['metadata'][GENERATION_STAMP] ?? Number.NaN)
  const { status_reason, deployment_state } = description
  return {
    state: STATES[status] ?? 'building',
    generation: Number.isSafeInteger(generation) ? generation : null,
    reason: status === 'UPDATE_FAILED' && typeof status_reason === 'string' ? status_reason : null,
    workers: workersOf(deployment_state, status, wanted),
  }
}
