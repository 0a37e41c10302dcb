import { ProblemError } from '@keelson/contracts/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>

beforeAll(async () => void (app = await testApp()))
beforeEach(async () => void (client = await app.client()))
afterAll(() => app[Symbol.asyncDispose]())

const LLM = { model: 'llama-3-8b-instruct' }
const LAUNCH = {
  model_image: { command: ['serve'], registry: 'registry.example.com', repository: 'search/ranker', tag: '1' },
  model_infra: { cpus: 2, memory: '8Gi', min_workers: 1, max_workers: 2, endpoint_type: 'sync' as const },
}

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ProblemError)
  const { status, problem, headers } = error as ProblemError
  const paths = problem.errors?.map(({ path }) => path)
  return { status, code: problem.code, retry: headers.get('x-should-retry'), ...(paths && { paths }) }
}

const ready = async (body: Parameters<typeof client.createModel>[0]['body']) => {
  const model = await client.createModel({ body })
  if (model.status === 'deploying') await app.settle(model.id)
  return client.getModel({ params: { model_id: model.id } })
}

const update = (model_id: string, body: Parameters<typeof client.updateModel>[0]['body']) =>
  client.updateModel({ params: { model_id }, body })

describe('create', () => {
  test.each([
    ['launch', 'generic', { vendor_configuration: LAUNCH }],
    ['llmengine', 'chat_completion', { vendor_configuration: LLM }],
  ])(
    'a %s model without model_vendor is told by its configuration and deploys',
    async (model_vendor, model_type, body) => {
      const model = await client.createModel({ body: { name: 'm', ...body } })
      expect(model).toMatchObject({ model_vendor, model_type, status: 'deploying', object: 'model' })
      expect(model.vendor_configuration).toEqual(body.vendor_configuration)
      const history = await client.listDeployments({ params: { model_id: model.id } })
      expect(history.items).toMatchObject([{ kind: 'create', generation: 1, phase: 'queued', finished_at: null }])
    },
  )

  test('a hosted model is ready at once and has no deployment', async () => {
    const body = { name: 'gpt', model_vendor: 'openai', model_type: 'chat_completion' } as const
    const model = await client.createModel({ body })
    expect(model).toMatchObject({ status: 'ready', model_availability: 'available' })
    expect(model).not.toHaveProperty('vendor_configuration')
    expect((await client.listDeployments({ params: { model_id: model.id } })).total).toBe(0)
  })

  test('a hosted model is refused while the gateway is off', async () => {
    await using closed = await testApp({ nativeInferenceGateway: false })
    const other = await closed.client()
    const body = { name: 'gpt', model_vendor: 'openai', model_type: 'chat_completion' } as const
    expect(await refusal(other.createModel({ body }))).toMatchObject({ status: 403, code: 'feature_disabled' })
  })

  test('a name is unique per vendor: the second is 409 and not worth a retry', async () => {
    await client.createModel({ body: { name: 'm', vendor_configuration: LLM } })
    const again = client.createModel({ body: { name: 'm', vendor_configuration: LLM } })
    expect(await refusal(again)).toEqual({ status: 409, code: 'model_exists', retry: 'false' })
    expect(await client.createModel({ body: { name: 'm', vendor_configuration: LAUNCH } })).toMatchObject({
      name: 'm',
    })
  })

  test('of many creates of one name exactly one wins', async () => {
    const body = { name: 'raced', vendor_configuration: LLM } as never
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => client.createModel({ body })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await client.listModels({ query: { name: 'raced' } })).total).toBe(1)
  })

  test('on_conflict update replaces the whole configuration of the namesake', async () => {
    const first = await ready({ name: 'm', vendor_configuration: { ...LLM, quantize: 'awq' } })
    const body = { name: 'm', vendor_configuration: LLM, on_conflict: 'update', model_metadata: { v: 2 } } as never
    const second = await client.createModel({ body })
    expect(second).toMatchObject({
      id: first.id,
      status: 'deploying',
      model_metadata: { v: 2 },
      vendor_configuration: LLM,
    })
    expect(second.vendor_configuration).not.toHaveProperty('quantize')
    expect(await refusal(client.createModel({ body }))).toMatchObject({ status: 409, code: 'model_deploying' })
  })

  test('metadata and open configuration fields come back as the text that was sent', async () => {
    const text = `{"name":"m","model_metadata":{"big":12345678901234567890,"one":1.0},"vendor_configuration":{"model":"x","temperature":1.0}}`
    const headers = { ...client.headers, 'content-type': 'application/json' }
    const response = await app.service.fetch(new Request('http://x/v5/models', { method: 'POST', headers, body: text }))
    const { id } = (await response.clone().json()) as { id: string }
    const read = await app.service.fetch(new Request(`http://x/v5/models/${id}`, { headers }))
    for (const answer of [await response.text(), await read.text()]) {
      expect(answer).toContain('"model_metadata":{"big":12345678901234567890,"one":1.0}')
      expect(answer).toContain('"temperature":1.0')
    }
  })

  test.each([
    ['no vendor', { name: 'm' }],
    [
      'a hosted vendor with a configuration',
      { name: 'm', model_vendor: 'openai', model_type: 'generic', vendor_configuration: LLM },
    ],
    [
      'another model_type',
      { name: 'm', model_vendor: 'launch', model_type: 'chat_completion', vendor_configuration: LAUNCH },
    ],
    ['shards that are not gpus', { name: 'm', vendor_configuration: { ...LLM, gpus: 1, num_shards: 2 } }],
    ['an unknown field of a closed shape', { name: 'm', vendor_configuration: { ...LAUNCH, extra: 1 } }],
    ['swap on create', { name: 'm', vendor_configuration: LLM, on_conflict: 'swap' }],
  ])('%s is 422 and nothing is created', async (_, body) => {
    expect(await refusal(client.createModel({ body: body as never }))).toMatchObject({
      status: 422,
      code: 'invalid_request',
    })
    expect((await client.listModels()).total).toBe(0)
  })
})

describe('update', () => {
  test('metadata is replaced whole and at once', async () => {
    const { id } = await ready({ name: 'm', vendor_configuration: LLM, model_metadata: { a: 1 } })
    expect(await update(id, { model_metadata: { b: 2 } })).toMatchObject({
      status: 'ready',
      model_metadata: { b: 2 },
    })
    expect(await update(id, {})).toMatchObject({ status: 'ready', model_metadata: { b: 2 } })
  })

  test('a configuration merges field by field, null clears, and it deploys again', async () => {
    const { id } = await ready({
      name: 'm',
      vendor_configuration: { ...LLM, quantize: 'awq', labels: { a: 'b' } },
    })
    const updated = await update(id, { vendor_configuration: { quantize: null, labels: { c: 'd' }, cpus: 4 } })
    expect(updated).toMatchObject({
      status: 'deploying',
      vendor_configuration: { ...LLM, labels: { c: 'd' }, cpus: 4 },
    })
    expect(updated.vendor_configuration).not.toHaveProperty('quantize')
    const { items } = await client.listDeployments({ params: { model_id: id } })
    expect(items.map(({ kind, generation }) => ({ kind, generation }))).toEqual([
      { kind: 'update', generation: 2 },
      { kind: 'create', generation: 1 },
    ])
  })

  test('parts of a launch configuration merge apart; a command is replaced whole', async () => {
    const { id } = await ready({ name: 'm', vendor_configuration: LAUNCH })
    const partial = { model_image: { command: ['other'], tag: '2' }, model_infra: { max_workers: 3 } }
    expect((await update(id, { vendor_configuration: partial })).vendor_configuration).toEqual({
      model_image: { ...LAUNCH.model_image, command: ['other'], tag: '2' },
      model_infra: { ...LAUNCH.model_infra, max_workers: 3 },
    })
  })

  test('an empty configuration deploys the same again', async () => {
    const { id } = await ready({ name: 'm', vendor_configuration: LLM })
    expect(await update(id, { vendor_configuration: {} })).toMatchObject({
      status: 'deploying',
      vendor_configuration: LLM,
    })
  })

  test('a configuration of the other vendor, or of a hosted model, is vendor_mismatch', async () => {
    const launch = await ready({ name: 'm', vendor_configuration: LAUNCH })
    const hosted = await ready({ name: 'gpt', model_vendor: 'openai', model_type: 'generic' } as never)
    for (const { id } of [launch, hosted]) {
      const wrong = update(id, { vendor_configuration: { quantize: 'awq' } })
      expect(await refusal(wrong)).toMatchObject({ status: 422, code: 'vendor_mismatch' })
    }
  })

  test('what the vendor would refuse of the merged configuration is 422 and changes nothing', async () => {
    const { id } = await ready({ name: 'm', vendor_configuration: LAUNCH })
    const wrong = update(id, { vendor_configuration: { model_infra: { min_workers: 9 } } })
    expect(await refusal(wrong)).toMatchObject({ status: 422, paths: ['vendor_configuration.model_infra.min_workers'] })
    expect(await client.getModel({ params: { model_id: id } })).toMatchObject({
      status: 'ready',
      vendor_configuration: LAUNCH,
    })
  })

  test('a deploying model can be neither updated, renamed nor deleted', async () => {
    const { id } = await client.createModel({ body: { name: 'm', vendor_configuration: LLM } })
    for (const body of [{ model_metadata: { a: 1 } }, { name: 'other' }, { vendor_configuration: {} }]) {
      expect(await refusal(update(id, body as never))).toMatchObject({ status: 409, code: 'model_deploying' })
    }
    const deletion = client.deleteModel({ params: { model_id: id } })
    expect(await refusal(deletion)).toMatchObject({ status: 409, code: 'model_deploying' })
  })

  test('a rename takes effect at once; a taken name is 409 unless it is to be swapped', async () => {
    const a = await ready({ name: 'a', vendor_configuration: LLM })
    const b = await ready({ name: 'b', vendor_configuration: LLM })
    expect(await update(a.id, { name: 'c' })).toMatchObject({ name: 'c', status: 'ready' })
    expect(await refusal(update(a.id, { name: 'b' }))).toMatchObject({ status: 409, code: 'model_exists' })
    expect(await update(a.id, { name: 'b', on_conflict: 'swap' } as never)).toMatchObject({ name: 'b' })
    expect(await client.getModel({ params: { model_id: b.id } })).toMatchObject({ name: 'c' })
    expect(await update(a.id, { name: 'b', on_conflict: 'swap' } as never)).toMatchObject({ name: 'b' })
  })

  test('crossing swaps always leave every name in its place or exchanged', async () => {
    const a = await ready({ name: 'a', vendor_configuration: LLM })
    const b = await ready({ name: 'b', vendor_configuration: LLM })
    const swaps = Array.from({ length: 20 }, (_, index) =>
      update(index % 2 ? a.id : b.id, { name: index % 4 < 2 ? 'b' : 'a', on_conflict: 'swap' } as never),
    )
    await Promise.allSettled(swaps)
    const names = (await client.listModels()).items.map(({ name }) => name)
    expect(names.toSorted()).toEqual(['a', 'b'])
  })

  test('swapping with a deploying model is 409', async () => {
    const a = await ready({ name: 'a', vendor_configuration: LLM })
    await client.createModel({ body: { name: 'b', vendor_configuration: LLM } })
    const swap = update(a.id, { name: 'b', on_conflict: 'swap' } as never)
    expect(await refusal(swap)).toMatchObject({ status: 409, code: 'model_deploying' })
  })

  test('of two updates at once one wins and the other is told that the model deploys', async () => {
    const { id } = await ready({ name: 'm', vendor_configuration: LLM })
    const updates = [4, 8].map((cpus) => update(id, { vendor_configuration: { cpus } }))
    const outcomes = await Promise.allSettled(updates)
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })
})
