import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LAUNCH, LLM, testWorld, type TestWorld } from '../fixtures/world.fixture.ts'
import { endpointName } from '../vendors/vendor.ts'

let world: TestWorld

beforeAll(async () => {
  world = await testWorld({ cache: true })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

/** Three server processes, each remembering for 15 s what it has read, none hearing of the others' writes. */
describe.each([
  ['llmengine', LLM],
  ['launch', LAUNCH],
] as const)('%s, answering from caches', (vendor, configuration) => {
  const live = (model_id: string) => world.simulator.endpoint(endpointName(model_id))

  test('an empty list from before the create: the endpoint is waited for, not created again', async () => {
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
    expect(world.simulator.violations()).toEqual([])
  })

  test('a stale READY after an update is not taken for the new generation', async () => {
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    world.simulator.assign({ endpoint: '*', profile: 'slow' })
    await world.update(model_id, configuration)
    for (let look = 0; look < 12; look += 1) {
      await world.pass(2_000)
      const current = await world.active(model_id)
      await world.step(current!.id)
      expect(await world.model(model_id)).toMatchObject({ status: 'deploying' })
    }
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'deployment_timeout', model_availability: 'available' })
  })

  test('a deletion right after the create trusts no absence from before it', async () => {
    world.simulator.assign({ endpoint: '*', profile: 'instant' })
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    await world.remove(model_id)
    await world.run(model_id)
    expect(await world.model(model_id)).toBeNull()
    expect(live(model_id)).toBeNull()
  })

  test('a lost answer to a create that the list does not show yet: adopted all the same', async () => {
    world.simulator.addFault({
      kind: 'reset',
      when: 'after',
      operation: vendor === 'launch' ? 'endpoints.create' : 'llm.create',
    })
    const { model_id } = await world.create(vendor, configuration)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
    expect(world.simulator.violations()).toEqual([])
  })
})
