import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LAUNCH, LLM, testWorld, type TestWorld } from '../fixtures/world.fixture.ts'
import { endpointName } from './vendor.ts'

const SECRET = 'correct-horse-battery-staple'

let world: TestWorld
let secretReads = 0

beforeAll(async () => {
  world = await testWorld({
    resolveCredential: async (_account_id, name) => {
      secretReads += 1
      return name === 'hf' ? SECRET : null
    },
  })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => {
  world.reset()
  world.simulator.watchSecret(SECRET)
})

const VENDORS = [
  ['llmengine', LLM, 'llm'],
  ['launch', LAUNCH, 'endpoints'],
] as const

const run = async (vendor: 'launch' | 'llmengine', configuration: object) => {
  const { model_id } = await world.create(vendor, configuration)
  await world.run(model_id)
  const [first] = await world.history(model_id)
  return { model_id, model: (await world.model(model_id))!, first: first! }
}

const sent = (operation: string) =>
  world.simulator.journal({ operation }).map(({ body }) => body as Record<string, unknown>)

describe.each(VENDORS)('%s answers', (vendor, configuration, routes) => {
  const create = `${routes}.create`
  const find = routes === 'llm' ? 'llm.get' : 'endpoints.list'

  test.each([
    ['429', { kind: 'rate_limit', operation: create, count: 3 }],
    ['503', { kind: 'status', status: 503, operation: create, count: 3 }],
    ['502 after it acted', { kind: 'status', status: 502, when: 'after', operation: create }],
    ['500 a few times', { kind: 'status', status: 500, operation: create, count: 3 }],
    ['connection reset', { kind: 'reset', operation: create, count: 2 }],
    ['a redirect', { kind: 'redirect', operation: create }],
    ['503 to reads', { kind: 'status', status: 503, operation: find, count: 9 }],
    ['malformed JSON to reads', { kind: 'malformed_json', operation: find, count: 4 }],
    ['malformed JSON to the create', { kind: 'malformed_json', operation: create }],
    ['a status nobody knows', { kind: 'unknown_status', operation: find, count: 4 }],
    ['fields left out', { kind: 'missing_fields', operation: find, count: 4 }],
    ['fields nobody knows', { kind: 'extra_fields', operation: find, count: 4 }],
    ['bytes that trickle', { kind: 'trickle', operation: find, interval_ms: 200, count: 2 }],
  ] as const)('%s -> ready in the end, created once', async (_name, fault) => {
    world.simulator.addFault(fault)
    const { model_id, model } = await run(vendor, configuration)
    expect(model).toMatchObject({ status: 'ready' })
    expect(world.simulator.endpoints()).toHaveLength(1)
    expect(world.simulator.endpoint(endpointName(model_id))).toMatchObject({ generation: '1' })
    expect(world.simulator.violations()).toEqual([])
  })

  test('500 for ever -> failed, vendor_error', async () => {
    world.simulator.addFault({ kind: 'status', status: 500, operation: create, count: null })
    expect((await run(vendor, configuration)).first).toMatchObject({ phase: 'failed', reason_code: 'vendor_error' })
  })

  test('401 -> failed, vendor_unauthorized, and the key is nowhere in the message', async () => {
    world.simulator.addFault({
      kind: 'status',
      status: 401,
      body: { detail: 'bad key vendor-key-0123456789' },
      operation: find,
      count: 3,
    })
    const { first, model } = await run(vendor, configuration)
    expect(first).toMatchObject({ phase: 'failed', reason_code: 'vendor_unauthorized' })
    expect(model.status_reason).toContain('[redacted]')
    expect(model.status_reason).not.toContain('vendor-key')
  })

  test('422 -> failed, vendor_rejected, naming the field', async () => {
    const body = { detail: [{ loc: ['body', 'min_workers'], msg: 'Input should be greater', type: 'x' }] }
    world.simulator.addFault({ kind: 'status', status: 422, body, operation: create })
    const { first, model } = await run(vendor, configuration)
    expect(first).toMatchObject({ phase: 'failed', reason_code: 'vendor_rejected' })
    expect(model.status_reason).toContain('min_workers: Input should be greater')
  })

  test('image not found -> failed, image_not_found', async () => {
    const body = { detail: 'The specified docker image could not be found.' }
    world.simulator.addFault({ kind: 'status', status: 404, body, operation: create })
    expect((await run(vendor, configuration)).first).toMatchObject({ phase: 'failed', reason_code: 'image_not_found' })
  })

  test('409 busy to an update -> tried again', async () => {
    const { model_id } = await run(vendor, configuration)
    world.simulator.addFault({ kind: 'status', status: 409, operation: `${routes}.update`, count: 20 })
    await world.update(model_id, configuration)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', generation: 2 })
  })
})

describe('LlmEngine', () => {
  test("is sent the configuration with the vendor's names, our defaults, labels, stamp, and everything it alone knows", async () => {
    const { model_id } = await run('llmengine', {
      ...LLM,
      max_model_len: 4096,
      labels: { team: 'search' },
      quantize: null,
    })
    expect(sent('llm.create')).toMatchObject([
      {
        name: endpointName(model_id),
        model_name: LLM.model,
        source: 'hugging_face',
        inference_framework: 'vllm',
        endpoint_type: 'streaming',
        num_shards: 1,
        min_workers: 1,
        max_workers: 1,
        public_inference: false,
        max_model_len: 4096,
        labels: { team: 'search', product: 'keelson' },
        metadata: { keelson_model_id: model_id, keelson_generation: '1' },
      },
    ])
    expect(sent('llm.create')[0]).not.toHaveProperty('model')
    expect(sent('llm.create')[0]).not.toHaveProperty('quantize')
  })

  test('is told by an update to clear what the configuration no longer has, and nothing it cannot change', async () => {
    const { model_id } = await run('llmengine', { ...LLM, checkpoint_path: 's3://bucket/one' })
    await world.update(model_id, LLM)
    await world.run(model_id)
    const [body] = sent('llm.update')
    expect(body).toMatchObject({
      checkpoint_path: null,
      quantize: null,
      chat_template_override: null,
      inference_framework: 'vllm',
    })
    expect(body).not.toHaveProperty('endpoint_type')
    expect(body).not.toHaveProperty('nodes_per_worker')
  })
})

describe('Launch', () => {
  const withEnvironment = {
    ...LAUNCH,
    model_image: {
      ...LAUNCH.model_image,
      env_vars: { HF_TOKEN: { $credential: 'hf' }, LEVEL: 3, DEBUG: false, GONE: null },
    },
  }
  const flavors = () => sent('bundles.create').map(({ flavor }) => flavor as Record<string, unknown>)

  test('reuses a bundle of equal content, across updates and models', async () => {
    const { model_id } = await run('launch', LAUNCH)
    await run('launch', LAUNCH)
    await world.update(model_id, { ...LAUNCH, model_infra: { ...LAUNCH.model_infra, cpus: 2 } })
    await world.run(model_id)
    expect(flavors()).toHaveLength(1)
    await world.update(model_id, { ...LAUNCH, model_image: { ...LAUNCH.model_image, tag: '1.1' } })
    await world.run(model_id)
    expect(flavors().map(({ tag }) => tag)).toEqual(['1.0', '1.1'])
  })

  test('is sent a runnable image with the defaults of the platform', async () => {
    await run('launch', LAUNCH)
    expect(flavors()).toMatchObject([
      {
        flavor: 'runnable_image',
        repository: 'registry.example.com/search/ranker',
        tag: '1.0',
        command: ['serve'],
        predict_route: '/predict',
        healthcheck_route: '/readyz',
        readiness_initial_delay_seconds: 120,
      },
    ])
    expect(sent('endpoints.create')).toMatchObject([
      { endpoint_type: 'sync', cpus: 1, memory: '2Gi', storage: '16Gi', gpus: 0, per_worker: 10 },
    ])
  })

  test('is sent a streaming image when the configuration streams', async () => {
    const image = { ...LAUNCH.model_image, streaming_command: ['stream'], streaming_predict_route: '/tokens' }
    const { model } = await run('launch', { model_image: image, model_infra: LAUNCH.model_infra })
    expect(model).toMatchObject({ status: 'ready' })
    expect(flavors()).toMatchObject([
      {
        flavor: 'streaming_enhanced_runnable_image',
        streaming_command: ['stream'],
        streaming_predict_route: '/tokens',
      },
    ])
    expect(sent('endpoints.create')).toMatchObject([{ endpoint_type: 'streaming', per_worker: 1 }])
  })

  test('is given credentials in the environment, and nobody else is', async () => {
    const { model_id } = await run('launch', withEnvironment)
    expect(flavors()).toMatchObject([{ env: { HF_TOKEN: SECRET, LEVEL: '3', DEBUG: 'false' } }])
    expect(world.simulator.violations()).toEqual([])
    const rows = JSON.stringify([await world.model(model_id), await world.history(model_id)])
    expect(rows).toContain('$credential')
    expect(rows).not.toContain(SECRET)
  })

  test('a credential is read at the vendor call only, not while watching', async () => {
    secretReads = 0
    await run('launch', withEnvironment)
    expect(secretReads).toBe(1)
  })

  test('a credential that does not exist -> failed, named', async () => {
    const image = { ...LAUNCH.model_image, env_vars: { TOKEN: { $credential: 'nobody' } } }
    const { first, model } = await run('launch', { ...LAUNCH, model_image: image })
    expect(first).toMatchObject({ phase: 'failed', reason_code: 'credential_not_found' })
    expect(model.status_reason).toContain('nobody')
  })

  test('a secret that the vendor quotes is redacted, in refusals and in reasons', async () => {
    world.simulator.addFault({
      kind: 'status',
      status: 400,
      body: { detail: `bad env HF_TOKEN=${SECRET}` },
      operation: 'endpoints.create',
    })
    const refused = await run('launch', withEnvironment)
    expect(refused.model.status_reason).toContain('bad env')
    expect(refused.model.status_reason).not.toContain(SECRET)
    const fails = { fail_first: null, status_reason: `cannot log in with ${SECRET}` }
    world.simulator.defineProfile('quoting', { create: fails, delete: { duration_ms: 0 } })
    world.simulator.assign({ endpoint: '*', profile: 'quoting' })
    const failed = await run('launch', withEnvironment)
    expect(failed.model.status_reason).toContain('cannot log in with [redacted]')
  })
})
