import { ProblemError } from '@keelson/contracts/client'
import { eventually, testRedis } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { QUICK_DEPLOYER, runningStack } from './running-stack.ts'

// A test for every rule, list parameter and error condition of the specification of models, under its name there.

const LLM = { model: 'llama-3-8b-instruct' }
const LAUNCH = {
  model_image: { command: ['serve'], registry: 'registry.example.com', repository: 'search/ranker', tag: '1' },
  model_infra: {},
}
const HOSTED = { model_vendor: 'openai', model_type: 'generic' }

const redisUrl = testRedis()
const backends: [string, string | undefined][] = [
  ['Postgres', undefined],
  ...(redisUrl === null ? [] : [['Redis', redisUrl] as [string, string]]),
]

describe.each(backends)('the rules of models, with the queue in %s', (_backend, redisUrl) => {
  const settings: Record<string, Record<string, string>> = { deployer: QUICK_DEPLOYER }
  let stack: Awaited<ReturnType<typeof runningStack>>
  let count = 0

  beforeAll(async () => {
    const services = ['platform-api', 'deployer'] as const
    stack = await runningStack({ services, redisUrl, settings })
  })
  afterAll(async () => await stack?.[Symbol.asyncDispose]())

  const name = () => `model ${(count += 1)}`
  const create = (body: object) => stack.platform.createModel({ body: { name: name(), ...body } as never })
  const update = (model_id: string, body: object) => stack.platform.updateModel({ params: { model_id }, body })
  const get = (model_id: string, query = {}) => stack.platform.getModel({ params: { model_id }, query })
  const remove = (model_id: string) => stack.platform.deleteModel({ params: { model_id } })
  const jobs = async (model_id: string) => (await stack.platform.listDeployments({ params: { model_id } })).items
  const ready = async (vendor_configuration: object, more = {}) => {
    const { id } = await create({ vendor_configuration, ...more })
    return get(id, { wait: '60' })
  }
  const refusal = async (call: Promise<unknown>) => {
    const error = await call.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ProblemError)
    const { status, problem } = error as ProblemError
    return `${status} ${problem.code}`
  }

  describe('create', () => {
    test('rule 1: asynchronous: deploying, a job recorded, a workflow started, not ready on return', async () => {
      const model = await create({ vendor_configuration: LLM })
      expect(model).toMatchObject({ status: 'deploying', model_availability: 'unavailable' })
      expect(await jobs(model.id)).toMatchObject([{ kind: 'create' }])
      expect(await get(model.id, { wait: '60' })).toMatchObject({ status: 'ready' })
    })
    test('rule 2: any other vendor is rejected on the launch and llmengine variants', async () => {
      for (const vendor_configuration of [LLM, LAUNCH])
        for (const model_vendor of ['openai', 'nobody'])
          expect(await refusal(create({ ...HOSTED, model_vendor, vendor_configuration }))).toBe('422 invalid_request')
    })
    test('rule 3: a name is unique per vendor within the account, unless on_conflict is update', async () => {
      const model = await ready(LLM)
      const again = { name: model.name, vendor_configuration: { ...LLM, max_workers: 2 } }
      expect(await refusal(create(again))).toBe('409 model_exists')
      expect(await refusal(create({ ...again, on_conflict: 'error' }))).toBe('409 model_exists')
      expect(await create({ ...again, vendor_configuration: LAUNCH })).toMatchObject({ name: model.name })
      expect(await create({ ...again, on_conflict: 'update' })).toMatchObject({ id: model.id, status: 'deploying' })
      expect(await get(model.id, { wait: '60' })).toMatchObject({
        status: 'ready',
        vendor_configuration: { max_workers: 2 },
      })
    })
    test('rule 4: a hosted model is ready and no deployment is performed', async () => {
      const model = await create(HOSTED)
      expect(model).toMatchObject({ status: 'ready' })
      expect(await jobs(model.id)).toEqual([])
    })
  })

  describe('update', () => {
    test('rule 1: a metadata-only change and a rename take effect immediately', async () => {
      const { id } = await ready(LLM)
      expect(await update(id, { model_metadata: { a: 1 } })).toMatchObject({
        status: 'ready',
        model_metadata: { a: 1 },
      })
      const renamed = name()
      expect(await update(id, { name: renamed })).toMatchObject({ status: 'ready', name: renamed })
      expect(await jobs(id)).toHaveLength(1)
    })
    test('rule 2: a configuration change is asynchronous: deploying, an update job, a redeploy', async () => {
      const { id } = await ready(LLM)
      expect(await update(id, { vendor_configuration: { max_workers: 2 } })).toMatchObject({ status: 'deploying' })
      expect(await jobs(id)).toMatchObject([{ kind: 'update' }, { kind: 'create' }])
      expect(await get(id, { wait: '60' })).toMatchObject({ status: 'ready' })
    })
    test('rule 3: the configuration must match the vendor; only launch and llmengine have one', async () => {
      const [engine, launch, hosted] = await Promise.all([ready(LLM), ready(LAUNCH), create(HOSTED)])
      const ofLaunch = { vendor_configuration: { model_image: { tag: '2' } } }
      const ofEngine = { vendor_configuration: { model: 'other' } }
      expect(await refusal(update(engine.id, ofLaunch))).toBe('422 vendor_mismatch')
      expect(await refusal(update(launch.id, ofEngine))).toBe('422 vendor_mismatch')
      for (const body of [ofLaunch, ofEngine])
        expect(await refusal(update(hosted.id, body))).toBe('422 vendor_mismatch')
    })
    test('rule 4: a model that is deploying cannot be modified until deployment finishes', async () => {
      const { id } = await create({ vendor_configuration: LLM })
      expect(await refusal(update(id, { model_metadata: {} }))).toBe('409 model_deploying')
      await get(id, { wait: '60' })
      expect(await update(id, { model_metadata: {} })).toMatchObject({ status: 'ready' })
    })
    test('rule 5: swap exchanges the names of two models of a vendor; error fails', async () => {
      const [a, b] = await Promise.all([create(HOSTED), create(HOSTED)])
      expect(await refusal(update(a.id, { name: b.name }))).toBe('409 model_exists')
      expect(await refusal(update(a.id, { name: b.name, on_conflict: 'error' }))).toBe('409 model_exists')
      expect(await update(a.id, { name: b.name, on_conflict: 'swap' })).toMatchObject({ name: b.name })
      expect(await get(b.id)).toMatchObject({ name: a.name })
    })
  })

  describe('states', () => {
    test('deploying, out of time: deployment_timeout, nothing is left, and an update deploys it', async () => {
      stack.simulator.assign({ endpoint: '*', profile: 'zero-workers' })
      const { id } = await create({ vendor_configuration: LLM })
      const isBuilt = async () => expect((await jobs(id))[0]).toMatchObject({ phase: 'starting' })
      await eventually(isBuilt, { deadlineMs: 30_000, intervalMs: 100 })
      stack.simulator.clearAssignments()
      await stack.db.sql`update platform.deployments set deadline = now() where model_id = ${id}`
      expect(await get(id, { wait: '60' })).toMatchObject({
        status: 'deployment_timeout',
        status_reason: expect.stringContaining('too few workers came up in time'),
        model_availability: 'unavailable',
      })
      const endpoint = `keelson-${id.replace('model_', '')}`
      const isGone = () => expect(stack.simulator.endpoint(endpoint)).toBeNull()
      await eventually(isGone, { deadlineMs: 30_000, intervalMs: 100 })
      const timedOut = { kind: 'create', phase: 'timed_out', reason_code: 'no_workers' }
      expect(await jobs(id)).toMatchObject([{ kind: 'cleanup' }, timedOut])
      expect(await update(id, { vendor_configuration: {} })).toMatchObject({ status: 'deploying' })
      expect(await get(id, { wait: '60' })).toMatchObject({ status: 'ready' })
    })
  })

  describe('delete', () => {
    test('rules 1 and 2: torn down at the vendor, then removed for good', async () => {
      const { id } = await ready(LAUNCH)
      const endpoint = `keelson-${id.replace('model_', '')}`
      expect(stack.simulator.endpoint(endpoint)).not.toBeNull()
      expect(await remove(id)).toEqual({ id, deleted: true, object: 'model' })
      expect(stack.simulator.endpoint(endpoint)).toBeNull()
      expect(await refusal(get(id))).toBe('404 not_found')
    })
    test('rule 3: a model that is deploying cannot be deleted until deployment finishes', async () => {
      const { id } = await create({ vendor_configuration: LLM })
      expect(await refusal(remove(id))).toBe('409 model_deploying')
      await get(id, { wait: '60' })
      expect(await remove(id)).toMatchObject({ deleted: true })
    })
  })

  describe('list', () => {
    const list = (query: object) => stack.platform.listModels({ query: { model_vendor: 'xai', ...query } as never })
    let ids: string[] = []
    beforeAll(async () => {
      for (let made = 0; made < 5; made += 1) ids.push((await create({ ...HOSTED, model_vendor: 'xai' })).id)
      ids = ids.toReversed()
    })
    const idsOf = (page: Awaited<ReturnType<typeof list>>) => page.items.map(({ id }) => id)

    test('starting_after and limit', async () => {
      const page = await list({ starting_after: ids[0], limit: '2' })
      expect(idsOf(page)).toEqual(ids.slice(1, 3))
      expect(page).toMatchObject({ has_more: true, total: 5, limit: 2, object: 'list' })
    })
    test('ending_before', async () =>
      expect(idsOf(await list({ ending_before: ids[4], limit: '2' }))).toEqual(ids.slice(2, 4)))
    test('sort_by and sort_order', async () => {
      expect(idsOf(await list({ sort_by: 'name', sort_order: 'asc' }))).toHaveLength(5)
      expect(idsOf(await list({ sort_order: 'asc' }))).toEqual(ids.toReversed())
      expect(await refusal(list({ sort_order: 'up' }))).toBe('422 invalid_request')
    })
    test('name', async () => expect(idsOf(await list({ name: (await get(ids[2]!)).name }))).toEqual([ids[2]]))
    test('model_vendor', async () => {
      expect(idsOf(await list({}))).toEqual(ids)
      expect(await refusal(list({ model_vendor: 'nobody' }))).toBe('422 invalid_request')
    })
    test('has_more, items and total at the end', async () => {
      expect(await list({ starting_after: ids[4] })).toMatchObject({ has_more: false, items: [], total: 5 })
    })
  })

  test('error: hosted model registration while the native inference gateway feature is disabled', async () => {
    settings['platform-api'] = { NATIVE_INFERENCE_GATEWAY: 'disabled' }
    await stack.stop('platform-api')
    await stack.start('platform-api')
    expect(await refusal(create(HOSTED))).toBe('403 feature_disabled')
    expect((await ready(LLM)).status).toBe('ready')
  })
})
