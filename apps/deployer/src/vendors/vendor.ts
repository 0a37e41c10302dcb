import type { Step } from './step.ts'

/** What is to be served, and under which name and stamp. */
export type Spec = {
  account_id: string
  model_id: string
  generation: number
  /** The vendor configuration as JSON text. */
  configuration: string
  /** The trace of the request that asked for it. */
  traceparent: string | null
}

/** What the vendor says about the endpoint of a model. */
export type Endpoint = {
  state: 'pending' | 'building' | 'ready' | 'failed' | 'deleting'
  /** The stamp of the configuration it was last given; `null` when it carries none. */
  generation: number | null
  /** The vendor's own words about a failure, redacted. */
  reason: string | null
  /** `null` until the vendor has counted; `wanted` 0 means it scales from zero. */
  workers: { available: number; unavailable: number; wanted: number } | null
}

/**
 * A serving vendor. Every operation may be called at any time, any number of times, and after any of its earlier calls
 * was lost: each looks first and then does what is missing. `null` is an endpoint that is not there.
 *
 * @throws VendorError
 */
export type Vendor = {
  /** Makes the endpoint carry the generation of the spec, unless it carries a later one. */
  ensure: (spec: Spec, step: Step) => Promise<Endpoint | null>
  observe: (spec: Spec, step: Step) => Promise<Endpoint | null>
  /** Removes the endpoint, unless it carries a later generation than the spec. */
  destroy: (spec: Spec, step: Step) => Promise<Endpoint | null>
  /** The ids of the models that have an endpoint there. */
  list: (step: Step) => Promise<string[]>
}

/** The calls of one vendor's HTTP API that the operations are made of. */
export type EndpointApi<Found extends Endpoint = Endpoint> = {
  find: (spec: Spec, step: Step) => Promise<Found | null>
  /** `exists` when the vendor has an endpoint of that name already. */
  create: (spec: Spec, step: Step) => Promise<'created' | 'exists'>
  update: (found: Found, spec: Spec, step: Step) => Promise<void>
  /** Succeeds when the endpoint is gone already. */
  remove: (found: Found, spec: Spec, step: Step) => Promise<void>
  list: (step: Step) => Promise<string[]>
}

/** The name of a model's endpoint: safe for DNS and Kubernetes, and untouched by a rename of the model. */
export const endpointName = (model_id: string): string => `keelson-${model_id.replace(/^model_/, '')}`

const needsWrite = (found: Endpoint, spec: Spec): boolean =>
  found.state !== 'deleting' && (found.generation === null || found.generation < spec.generation)

/** What never came up cannot be updated at these vendors, and nobody misses it. */
const isDead = ({ state, workers }: Endpoint): boolean =>
  state !== 'ready' && (workers === null || (workers.wanted > 0 && workers.available === 0))

/** Level-triggered operations over a vendor's calls: what is found decides, never what was done before. */
export const vendorOver = <Found extends Endpoint>(api: EndpointApi<Found>): Vendor => {
  const replace = async (found: Found, spec: Spec, step: Step): Promise<Endpoint> => {
    if (!needsWrite(found, spec)) return found
    if (isDead(found)) {
      await api.remove(found, spec, step)
      return { ...found, state: 'deleting' }
    }
    await api.update(found, spec, step)
    return { ...found, state: 'pending', generation: spec.generation, reason: null }
  }
  return {
    list: api.list,
    observe: api.find,
    ensure: async (spec, step) => {
      const found = await api.find(spec, step)
      if (found !== null) return replace(found, spec, step)
      const created = await api.create(spec, step)
      if (created === 'created') return { state: 'pending', generation: spec.generation, reason: null, workers: null }
      const adopted = await api.find(spec, step)
      return adopted && replace(adopted, spec, step)
    },
    destroy: async (spec, step) => {
      const found = await api.find(spec, step)
      if (found === null || found.state === 'deleting' || (found.generation ?? 0) > spec.generation) return found
      await api.remove(found, spec, step)
      return { ...found, state: 'deleting' }
    },
  }
}
