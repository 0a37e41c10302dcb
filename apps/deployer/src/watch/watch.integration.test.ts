import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LAUNCH, testWorld, type TestWorld } from '../fixtures/world.fixture.ts'
import { endpointName } from '../vendors/vendor.ts'
import { watchAvailability } from './availability.ts'
import { orphanWatch } from './orphans.ts'

let world: TestWorld

beforeAll(async () => {
  world = await testWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

const ready = async () => {
  const { model_id } = await world.create('launch', LAUNCH)
  await world.run(model_id)
  return model_id
}

describe('the watch over what is deployed', () => {
  const options = () => ({
    db: world.db,
    vendors: world.ports.vendors,
    startStep: world.ports.startStep,
    observeMs: 600_000,
    batch: 100,
    concurrency: 4,
  })

  test('tells when workers are lost and when they are back, and leaves the status alone', async () => {
    const model_id = await ready()
    world.simulator.setWorkers(endpointName(model_id), 0)
    await world.pass(600_000)
    await watchAvailability(options())
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', model_availability: 'unavailable' })
    world.simulator.setWorkers(endpointName(model_id), 1)
    await watchAvailability(options())
    expect(await world.model(model_id)).toMatchObject({ model_availability: 'unavailable' })
    await world.pass(600_000)
    await watchAvailability(options())
    expect(await world.model(model_id)).toMatchObject({ model_availability: 'available' })
  })

  test('tells when the endpoint vanished behind us', async () => {
    const model_id = await ready()
    world.simulator.vanish(endpointName(model_id))
    await world.pass(600_000)
    await watchAvailability(options())
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', model_availability: 'unavailable' })
  })

  test('changes nothing while the vendor does not answer', async () => {
    const model_id = await ready()
    world.simulator.addFault({ kind: 'status', status: 503, count: null })
    await world.pass(600_000)
    await watchAvailability(options())
    expect(await world.model(model_id)).toMatchObject({ model_availability: 'available' })
  })

  test('does not look at a model that is deploying', async () => {
    const model_id = await ready()
    await world.update(model_id, LAUNCH)
    world.simulator.reset()
    await world.pass(600_000)
    await watchAvailability(options())
    expect(await world.model(model_id)).toMatchObject({ status: 'deploying', model_availability: 'available' })
  })
})

describe('the watch for orphans', () => {
  const orphans = (remove: boolean) => {
    const found: string[] = []
    const { db, ports } = world
    const round = orphanWatch({
      db,
      vendors: ports.vendors,
      startStep: ports.startStep,
      remove,
      onOrphan: (_vendor, model_id) => found.push(model_id),
    })
    return { found, round }
  }
  const orphan = async () => {
    const model_id = await ready()
    await world.db.sql`delete from platform.models where id = ${model_id}`
    return model_id
  }

  test('finds an endpoint without a model, the second time it sees it', async () => {
    const [kept, model_id] = [await ready(), await orphan()]
    const { found, round } = orphans(false)
    await round()
    expect(found).toEqual([])
    await round()
    expect(found).toContain(model_id)
    expect(found).not.toContain(kept)
    expect(world.simulator.endpoint(endpointName(model_id))).not.toBeNull()
  })

  test('removes it where it was told to, and nothing else', async () => {
    const [kept, model_id] = [await ready(), await orphan()]
    const { round } = orphans(true)
    await round()
    await round()
    expect(world.simulator.endpoint(endpointName(model_id))).toBeNull()
    expect(world.simulator.endpoint(endpointName(kept))).not.toBeNull()
  })

  test('spares what is under way', async () => {
    const { model_id } = await world.create('launch', LAUNCH)
    await world.run(model_id, ({ phase }) => phase === 'building')
    const { found, round } = orphans(true)
    await round()
    await round()
    expect(found).not.toContain(model_id)
  })
})
