import { testRedis } from '@keelson/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { QUICK_DEPLOYER, runningStack } from './running-stack.ts'

const LLM = { model: 'llama-3-8b-instruct' }
const LAUNCH = {
  model_image: { command: ['serve'], registry: 'registry.example.com', repository: 'search/ranker', tag: '1' },
  model_infra: {
    cpus: 2,
    memory: '8Gi',
    storage: '16Gi',
    gpus: 0,
    min_workers: 1,
    max_workers: 2,
    endpoint_type: 'sync',
  },
}

const backends = [
  ['Postgres', () => undefined],
  ['Redis', testRedis],
] as const

describe.each(backends)('models, with the queue in %s', (backend, urlOf) => {
  let stack: Awaited<ReturnType<typeof runningStack>>
  const redisUrl = urlOf()
  const skip = backend === 'Redis' && redisUrl === null

  beforeAll(async () => {
    if (skip) return
    stack = await runningStack({
      services: ['platform-api', 'deployer'],
      redisUrl: redisUrl ?? undefined,
      settings: { deployer: QUICK_DEPLOYER },
    })
  })
  afterAll(async () => await stack?.[Symbol.asyncDispose]())
  beforeEach(() => stack?.simulator.clearAssignments())

  let count = 0
  const create = (vendor_configuration: object) => {
    count += 1
    return stack.platform.createModel({ body: { name: `model ${count}`, vendor_configuration } as never })
  }
  const settled = (model_id: string) => stack.platform.getModel({ params: { model_id }, query: { wait: '60' } })
  const endpoints = () => stack.simulator.endpoints().length

  test.skipIf(skip)('deploying becomes ready once the vendor serves, for both vendors', async () => {
    for (const configuration of [LLM, LAUNCH]) {
      const { id, status } = await create(configuration)
      expect(status).toBe('deploying')
      const model = await settled(id)
      expect(model).toMatchObject({ status: 'ready', model_availability: 'available' })
      expect(model).not.toHaveProperty('status_reason')
      const { items } = await stack.platform.listDeployments({ params: { model_id: id } })
      expect(items).toMatchObject([{ kind: 'create', phase: 'succeeded', generation: 1 }])
    }
  })

  test.skipIf(skip)(
    'a build that fails ends as failed with words to act on, and leaves nothing at the vendor',
    async () => {
      stack.simulator.assign({ endpoint: '*', profile: 'fail-build' })
      const before = endpoints()
      const { id } = await create(LLM)
      const model = await settled(id)
      expect(model).toMatchObject({ status: 'failed', model_availability: 'unavailable' })
      expect(model.status_reason?.length).toBeGreaterThan(10)
      await expect.poll(endpoints, { timeout: 20_000 }).toBe(before)
    },
  )

  test.skipIf(skip)('an update that fails leaves the old version serving, and says so', async () => {
    const { id } = await create(LLM)
    await settled(id)
    stack.simulator.assign({ endpoint: '*', profile: 'update-fails' })
    const body = { vendor_configuration: { max_workers: 2, min_workers: 1 } } as never
    await stack.platform.updateModel({ params: { model_id: id }, body })
    expect(await settled(id)).toMatchObject({ status: 'failed', model_availability: 'available' })
  })

  test.skipIf(skip)('a deployer that dies mid-way loses and doubles nothing', async () => {
    const created = await Promise.all(Array.from({ length: 5 }, () => create(LLM)))
    await stack.stop('deployer')
    await stack.start('deployer')
    for (const { id } of created) expect(await settled(id)).toMatchObject({ status: 'ready' })
    expect(stack.simulator.violations()).toEqual([])
  })

  test.skipIf(skip)('a credential named in env_vars reaches the vendor, and nothing else', async () => {
    const secret = `canary-${backend}-0123456789abcdef`
    await stack.platform.createCredential({ body: { name: `token ${backend}`, type: 'key', payload: secret } })
    const model_image = { ...LAUNCH.model_image, env_vars: { TOKEN: { $credential: `token ${backend}` }, LEVEL: 1 } }
    const { id } = await create({ ...LAUNCH, model_image })
    const model = await settled(id)
    expect(model).toMatchObject({ status: 'ready', vendor_configuration: { model_image } })
    expect(JSON.stringify(model)).not.toContain(secret)
    const rows = await stack.db.sql`select * from platform.deployments d join platform.models m on m.id = d.model_id`
    expect(JSON.stringify(rows)).not.toContain(secret)
    const audit = await stack.db
      .sql`select identity_id, outcome from identity.audit_log where action = 'credential.reveal'`
    expect(audit[0]).toMatchObject({ identity_id: 'deployer', outcome: 'granted' })
  })

  test.skipIf(skip)('a credential that is missing fails the deployment and is named', async () => {
    const model_image = { ...LAUNCH.model_image, env_vars: { TOKEN: { $credential: 'nobody has this' } } }
    const { id } = await create({ ...LAUNCH, model_image })
    const model = await settled(id)
    expect(model).toMatchObject({ status: 'failed' })
    expect(model.status_reason).toContain('nobody has this')
  })

  test.skipIf(skip)('a rename or a swap never touches the vendor', async () => {
    const [a, b] = await Promise.all([create(LLM), create(LLM)])
    await Promise.all([settled(a.id), settled(b.id)])
    const before = stack.simulator.journal().length
    const body = { name: b.name, on_conflict: 'swap' } as const
    expect(await stack.platform.updateModel({ params: { model_id: a.id }, body })).toMatchObject({
      name: b.name,
      status: 'ready',
    })
    const later = stack.simulator.journal().slice(before)
    expect(later.filter(({ operation }) => /create|update|delete/.test(operation))).toEqual([])
  })
})
