import { ProblemError } from '@keelson/contracts/client'
import { testRedis } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  changesOf,
  LAUNCH_IMAGE,
  LAUNCH_INFRA,
  LLM_ENGINE,
  valuesOf,
  without,
  type FieldRow,
} from './models-spec-fields.ts'
import { QUICK_DEPLOYER, runningStack } from './running-stack.ts'

// A test for every row of the specification's tables of models, under the name of the row.

type Fields = Record<string, unknown>

const LLM = valuesOf(LLM_ENGINE)
const IMAGE = valuesOf(LAUNCH_IMAGE)
const INFRA = valuesOf(LAUNCH_INFRA)
const LAUNCH = { model_image: IMAGE, model_infra: INFRA }
const HOSTED = [
  'openai',
  'cohere',
  'vertex_ai',
  'anthropic',
  'azure',
  'gemini',
  'model_zoo',
  'bedrock',
  'xai',
  'fireworks_ai',
]
const TYPES = ['generic', 'completion', 'chat_completion']

const backends = [
  ['Postgres', () => undefined],
  ['Redis', testRedis],
] as const

describe.each(backends)('the specification of models, with the queue in %s', (backend, urlOf) => {
  const redisUrl = urlOf()
  const skip = backend === 'Redis' && redisUrl === null
  const settings: Record<string, Record<string, string>> = { deployer: QUICK_DEPLOYER }
  let stack: Awaited<ReturnType<typeof runningStack>>
  let count = 0

  const name = () => `model ${(count += 1)}`
  const create = (body: object) => stack.platform.createModel({ body: { name: name(), ...body } as never })
  const update = (model_id: string, body: object) => stack.platform.updateModel({ params: { model_id }, body })
  const settled = (model_id: string) => stack.platform.getModel({ params: { model_id }, query: { wait: '60' } })
  const deployed = async (vendor_configuration: object) => settled((await create({ vendor_configuration })).id)
  const refusal = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(ProblemError)
    const { status, problem } = error as ProblemError
    return { status, code: problem.code }
  }
  const INVALID = { status: 422, code: 'invalid_request' }
  const DEPLOYING = { status: 409, code: 'model_deploying' }

  let launch: Awaited<ReturnType<typeof deployed>>
  let engine: typeof launch
  let changedLaunch: typeof launch
  let changedEngine: typeof launch

  beforeAll(async () => {
    if (skip) return
    const services = ['platform-api', 'deployer'] as const
    stack = await runningStack({ services, redisUrl: redisUrl ?? undefined, settings })
    ;[launch, engine] = await Promise.all([deployed(LAUNCH), deployed(LLM)])
    const changes = { model_image: changesOf(LAUNCH_IMAGE), model_infra: changesOf(LAUNCH_INFRA) }
    await Promise.all([
      update(launch.id, { vendor_configuration: changes }),
      update(engine.id, { vendor_configuration: changesOf(LLM_ENGINE) }),
    ])
    ;[changedLaunch, changedEngine] = await Promise.all([settled(launch.id), settled(engine.id)])
  })
  afterAll(async () => await stack?.[Symbol.asyncDispose]())

  const fieldTests = (rows: readonly FieldRow[], of: (fields: Fields) => object, shown: () => [unknown, unknown]) => {
    test.skipIf(skip).each(rows)('$name', async ({ name, value, changed, wrong }) => {
      const [before, after] = shown() as [Fields, Fields]
      expect(before[name]).toEqual(value)
      expect(after[name]).toEqual(changed ?? value)
      const fields = valuesOf(rows)
      const body = (given: Fields) => ({ vendor_configuration: of(given) })
      expect(await refusal(create(body({ ...fields, [name]: wrong })))).toEqual(INVALID)
    })
  }

  test
    .skipIf(skip)
    .each([
      ...LAUNCH_IMAGE.filter(({ required }) => required).map(
        ({ name }) => [`model_image.${name}`, { ...LAUNCH, model_image: without(IMAGE, name) }] as const,
      ),
      ['model_image', without(LAUNCH, 'model_image')] as const,
      ['model_infra', without(LAUNCH, 'model_infra')] as const,
      ['model', without(LLM, 'model')] as const,
    ])('%s is required', async (_name, vendor_configuration) => {
    expect(await refusal(create({ vendor_configuration }))).toEqual(INVALID)
  })

  describe('LaunchVendorConfiguration and its partial, model_image', () => {
    fieldTests(
      LAUNCH_IMAGE,
      (model_image) => ({ model_image, model_infra: {} }),
      () => [
        (launch.vendor_configuration as Fields)['model_image'],
        (changedLaunch.vendor_configuration as Fields)['model_image'],
      ],
    )
  })

  describe('LaunchVendorConfiguration and its partial, model_infra', () => {
    fieldTests(
      LAUNCH_INFRA,
      (model_infra) => ({ model_image: IMAGE, model_infra }),
      () => [
        (launch.vendor_configuration as Fields)['model_infra'],
        (changedLaunch.vendor_configuration as Fields)['model_infra'],
      ],
    )
  })

  describe('LlmEngineVendorConfiguration and its partial', () => {
    fieldTests(
      LLM_ENGINE,
      (fields) => fields,
      () => [engine.vendor_configuration, changedEngine.vendor_configuration],
    )
  })

  describe('InferenceModel', () => {
    test.skipIf(skip).each([
      ['id', expect.stringMatching(/^model_/)],
      ['created_at', expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)],
      ['created_by_identity_type', 'user'],
      ['created_by_user_id', expect.any(String)],
      ['model_type', 'chat_completion'],
      ['model_vendor', 'llmengine'],
      ['name', expect.any(String)],
      ['status', 'ready'],
      ['model_availability', 'available'],
      ['object', 'model'],
      ['vendor_configuration', LLM],
    ])('%s', (field, expected) => expect((engine as Fields)[field]).toEqual(expected))

    test.skipIf(skip)('model_metadata', async () => {
      const model_metadata = { note: 'x', nested: { big: [1, 2] } }
      expect(await create({ model_vendor: 'openai', model_type: 'generic', model_metadata })).toMatchObject({
        model_metadata,
      })
    })

    test.skipIf(skip)('status_reason', async () => {
      stack.simulator.assign({ endpoint: '*', profile: 'fail-build' })
      const model = await deployed({ model: 'llama-3-8b' })
      stack.simulator.clearAssignments()
      expect(model).toMatchObject({ status: 'failed', status_reason: expect.stringContaining('could not build') })
    })

    test.skipIf(skip).each(HOSTED)('InferenceModelVendor %s', async (model_vendor) => {
      const body = { model_vendor, model_type: 'generic' }
      expect(await create(body)).toMatchObject({ model_vendor, status: 'ready' })
      expect(await refusal(create({ ...body, vendor_configuration: LLM }))).toEqual(INVALID)
    })

    test.skipIf(skip).each(TYPES)('InferenceModelType %s', async (model_type) => {
      expect(await create({ model_vendor: 'openai', model_type })).toMatchObject({ model_type })
    })
  })

  describe('states and transitions', () => {
    test.skipIf(skip)('(none), create launch or llmengine model, accepted: deploying, a job is recorded', async () => {
      for (const vendor_configuration of [LAUNCH, LLM]) {
        const { id, status } = await create({ vendor_configuration })
        expect(status).toBe('deploying')
        expect(await stack.platform.listDeployments({ params: { model_id: id } })).toMatchObject({
          total: 1,
          items: [{ kind: 'create' }],
        })
        expect(await settled(id)).toMatchObject({ status: 'ready' })
      }
    })

    test.skipIf(skip)('(none), create hosted model, accepted: ready, no deployment', async () => {
      const { id, status } = await create({ model_vendor: 'openai', model_type: 'generic' })
      expect(status).toBe('ready')
      expect(await stack.platform.listDeployments({ params: { model_id: id } })).toMatchObject({ total: 0 })
    })

    test.skipIf(skip).each([
      ['ready', null],
      ['failed', 'fail-build'],
    ])(
      'any non-deploying state (%s), update with a configuration change: deploying, an update job',
      async (status, profile) => {
        if (profile) stack.simulator.assign({ endpoint: '*', profile })
        const model = await deployed({ model: 'llama-3-8b' })
        stack.simulator.clearAssignments()
        expect(model.status).toBe(status)
        expect(await update(model.id, { vendor_configuration: { max_workers: 2 } })).toMatchObject({
          status: 'deploying',
        })
        expect(await settled(model.id)).toMatchObject({ status: 'ready' })
        const { items } = await stack.platform.listDeployments({ params: { model_id: model.id } })
        expect(items[0]).toMatchObject({ kind: 'update', generation: 2 })
      },
    )

    test.skipIf(skip)('deploying, update or delete, always: unchanged, the request fails', async () => {
      stack.simulator.assign({ endpoint: '*', profile: 'slow' })
      const { id } = await create({ vendor_configuration: LLM })
      stack.simulator.clearAssignments()
      for (const body of [{ model_metadata: {} }, { name: name() }, { vendor_configuration: {} }])
        expect(await refusal(update(id, body))).toEqual(DEPLOYING)
      expect(await refusal(stack.platform.deleteModel({ params: { model_id: id } }))).toEqual(DEPLOYING)
      expect(await stack.platform.getModel({ params: { model_id: id } })).toMatchObject({ status: 'deploying' })
    })
  })
})
