import { startSimulator, type RunningSimulator, type SimulatorOptions } from './simulator.ts'

/** A client of the vendor's routes for the tests, and bodies that the vendor accepts. */

export const LABELS = { team: 'serving', product: 'tests' }

/** A body is whatever JSON says; tests reach into it. */
export type Answer = { status: number; body: ReturnType<typeof JSON.parse>; headers: Headers }
export type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>

/** Sends a key as HTTP Basic, as the vendor's own clients do. */
export const vendor = ({ url }: { url: string }, key = 'key'): Ask => {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
  return async (method, path, body) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...content,
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
  }
}

export type Stage = AsyncDisposable & { sim: RunningSimulator; ask: Ask }

/** A simulator whose clock stands still and whose caches are off, unless told otherwise. */
export const stage = async (options: SimulatorOptions = {}): Promise<Stage> => {
  const sim = await startSimulator({ timeScale: 0, cache: { enabled: false }, ...options })
  return { sim, ask: vendor(sim), [Symbol.asyncDispose]: () => sim[Symbol.asyncDispose]() }
}

export const LLM = '/v1/llm/model-endpoints'
export const ENDPOINTS = '/v1/model-endpoints'
export const BUNDLES = '/v2/model-bundles'

export const llmBody = (changes: object = {}) => ({
  name: 'llm-1',
  model_name: 'llama-3-8b-instruct',
  metadata: { model_generation: '1' },
  min_workers: 1,
  max_workers: 2,
  per_worker: 2,
  labels: LABELS,
  endpoint_type: 'streaming',
  public_inference: false,
  ...changes,
})

/** Hardware that goes with `llmBody` when it is to be given. */
export const HARDWARE = {
  gpus: 2,
  num_shards: 2,
  gpu_type: 'nvidia-hopper-h100',
  cpus: 20,
  memory: '160Gi',
  storage: '200Gi',
  nodes_per_worker: 1,
}

export const flavorBody = (changes: object = {}) => ({
  flavor: 'runnable_image',
  repository: 'registry.example.com/team/app',
  tag: '1.0',
  command: ['serve'],
  protocol: 'http',
  ...changes,
})

export const STREAMING = { flavor: 'streaming_enhanced_runnable_image', streaming_command: ['stream'] }

export const bundleBody = (changes: object = {}) => ({
  name: 'bundle-1',
  schema_location: 'TBA',
  flavor: flavorBody(),
  ...changes,
})

export const endpointBody = (changes: object = {}) => ({
  name: 'app-1',
  endpoint_type: 'sync',
  metadata: { model_generation: '1' },
  cpus: 3,
  memory: '8Gi',
  storage: '16Gi',
  gpus: 0,
  min_workers: 1,
  max_workers: 2,
  per_worker: 4,
  labels: LABELS,
  ...changes,
})

/** Makes a bundle and an endpoint of it; the answer is the endpoint's create. */
export const createApp = async (ask: Ask, changes: object = {}, flavor: object = {}): Promise<Answer> => {
  const bundle = await ask('POST', BUNDLES, bundleBody({ flavor: flavorBody(flavor) }))
  return ask('POST', ENDPOINTS, endpointBody({ model_bundle_id: bundle.body.model_bundle_id, ...changes }))
}

export const idOf = async (ask: Ask, name = 'app-1'): Promise<string> =>
  (await ask('GET', `${ENDPOINTS}?name=${name}`)).body.model_endpoints[0].id
