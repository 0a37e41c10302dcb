import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LAUNCH, LIMITS, LLM, testWorld, type TestWorld } from '../fixtures/world.fixture.ts'
import { endpointName } from '../vendors/vendor.ts'

let world: TestWorld

beforeAll(async () => {
  world = await testWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

const VENDORS = [
  ['llmengine', LLM, 'llm'],
  ['launch', LAUNCH, 'endpoints'],
] as const

const live = (model_id: string) => world.simulator.endpoint(endpointName(model_id))
const kinds = async (model_id: string) =>
  (await world.history(model_id)).map(({ kind, phase, reason_code }) => [kind, phase, reason_code])

describe.each(VENDORS)('at %s', (vendor, configuration, routes) => {
  const ready = async () => {
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
    return model_id
  }

  test('a created model becomes ready, with one endpoint of its generation', async () => {
    const model_id = await ready()
    expect(await world.model(model_id)).toMatchObject({ status_reason: null, model_availability: 'available' })
    expect(live(model_id)).toMatchObject({ status: 'READY', serving_generation: '1' })
    expect(world.simulator.violations()).toEqual([])
    expect(await kinds(model_id)).toEqual([['create', 'succeeded', null]])
  })

  test('an updated model becomes ready again, its endpoint changed in place', async () => {
    const model_id = await ready()
    const { id } = live(model_id)!
    await world.update(model_id, configuration)
    expect(await world.model(model_id)).toMatchObject({ status: 'deploying', model_availability: 'available' })
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', generation: 2 })
    expect(live(model_id)).toMatchObject({ id, generation: '2', status: 'READY' })
    expect(world.simulator.violations()).toEqual([])
  })

  test('a deleted model is torn down at the vendor, then gone with its history', async () => {
    const model_id = await ready()
    await world.remove(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
    await world.run(model_id)
    expect(live(model_id)).toBeNull()
    expect(await world.model(model_id)).toBeNull()
    expect(await world.history(model_id)).toEqual([])
  })

  test('a lost answer to the create: the endpoint is found and adopted, and created once', async () => {
    world.simulator.addFault({ kind: 'reset', when: 'after', operation: `${routes}.create` })
    const model_id = await ready()
    expect(world.simulator.journal({ operation: `${routes}.create` })).toHaveLength(1)
    expect(live(model_id)).toMatchObject({ serving_generation: '1' })
    expect(world.simulator.violations()).toEqual([])
  })

  test('a create that hangs: nothing is written over it until it can no longer land', async () => {
    world.simulator.addFault({ kind: 'hang', when: 'before', operation: `${routes}.create` })
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    const creates = world.simulator.journal({ operation: `${routes}.create` })
    expect(creates.map(({ committed }) => committed)).toEqual([false, true])
    // The database's clock ran on a little while the request hung.
    expect(creates[1]!.at_ms - creates[0]!.at_ms).toBeGreaterThan(LIMITS.settleMs / 2)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
  })

  test('a lost answer to the update: nothing is sent twice', async () => {
    const model_id = await ready()
    world.simulator.addFault({ kind: 'reset', when: 'after', operation: `${routes}.update` })
    await world.update(model_id, configuration)
    await world.run(model_id)
    expect(world.simulator.journal({ operation: `${routes}.update` })).toHaveLength(1)
    expect(live(model_id)).toMatchObject({ generation: '2', status: 'READY' })
  })

  test('zero workers until the deadline -> deployment_timeout, what is left is removed, a late READY changes nothing', async () => {
    world.simulator.assign({ endpoint: '*', profile: 'zero-workers' })
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    const model = await world.model(model_id)
    expect(model).toMatchObject({ status: 'deployment_timeout', model_availability: 'unavailable' })
    expect(model?.status_reason).toContain('0 of 1 workers')
    expect(await kinds(model_id)).toEqual([
      ['create', 'timed_out', 'no_workers'],
      ['cleanup', 'succeeded', null],
    ])
    expect(live(model_id)).toBeNull()
  })

  test("a failed build -> failed with the vendor's reason, and what is left is removed", async () => {
    world.simulator.assign({ endpoint: '*', profile: 'fail-build' })
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    const model = await world.model(model_id)
    expect(model).toMatchObject({ status: 'failed', model_availability: 'unavailable' })
    expect(model?.status_reason).toContain('Image build failed.')
    expect(live(model_id)).toBeNull()
  })

  test('a failed update -> failed, while the old version serves on', async () => {
    world.simulator.assign({ endpoint: '*', profile: 'update-fails' })
    const model_id = await ready()
    await world.update(model_id, configuration)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'failed', model_availability: 'available' })
    expect(live(model_id)).toMatchObject({ serving_generation: '1' })
    expect(await kinds(model_id)).toEqual([
      ['create', 'succeeded', null],
      ['update', 'failed', 'build_failed'],
    ])
  })

  test('a model that failed can be updated: a cleanup under way gives way, and the new endpoint is not its victim', async () => {
    world.simulator.assign({ endpoint: '*', profile: 'fails-first' })
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id, ({ kind }) => kind === 'cleanup')
    await world.update(model_id, configuration)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', generation: 2 })
    expect(live(model_id)).toMatchObject({ serving_generation: '2' })
  })

  test('delete with 404: an endpoint that is gone already is as good as removed', async () => {
    const model_id = await ready()
    world.simulator.vanish(endpointName(model_id))
    await world.remove(model_id)
    await world.run(model_id)
    expect(await world.model(model_id)).toBeNull()
  })

  test('delete with 500 once: tried again', async () => {
    world.simulator.assign({ endpoint: '*', profile: 'delete-500-once' })
    const model_id = await ready()
    await world.remove(model_id)
    await world.run(model_id)
    expect(await world.model(model_id)).toBeNull()
    expect(live(model_id)).toBeNull()
  })

  test('delete with 500 for ever: the delete fails, the model stays and can be deleted again', async () => {
    world.simulator.assign({ endpoint: '*', profile: 'delete-fails' })
    const model_id = await ready()
    await world.remove(model_id)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', model_availability: 'unknown' })
    expect((await world.history(model_id)).at(-1)).toMatchObject({
      kind: 'delete',
      phase: 'failed',
      reason_code: 'vendor_error',
    })
    await world.remove(model_id)
    expect((await world.history(model_id)).at(-1)).toMatchObject({ kind: 'delete', phase: 'queued' })
  })

  test('a delete whose answer is lost: done all the same', async () => {
    const model_id = await ready()
    world.simulator.addFault({ kind: 'reset', when: 'after', operation: `${routes}.delete` })
    await world.remove(model_id)
    await world.run(model_id)
    expect(await world.model(model_id)).toBeNull()
    expect(live(model_id)).toBeNull()
  })

  test('an endpoint that vanishes while it is built -> failed, deployment disappeared', async () => {
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id, ({ phase }) => phase === 'building')
    world.simulator.vanish(endpointName(model_id))
    await world.run(model_id)
    expect((await world.history(model_id))[0]).toMatchObject({ phase: 'failed', reason_code: 'endpoint_missing' })
  })
})
