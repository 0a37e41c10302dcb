import { constraintOf } from '@keelson/database'
import { DEPLOYMENT_ACTIVE_KEY, MODEL_NAME_KEY, startDeployment } from '@keelson/database/platform'
import { typeId } from '@keelson/service-kit'
import { eventually } from '@keelson/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { after, endpoint, error } from '../fixtures/claims.fixture.ts'
import { LAUNCH, LIMITS, testWorld, type TestWorld } from '../fixtures/world.fixture.ts'
import { startStep } from '../vendors/step.ts'
import { endpointName } from '../vendors/vendor.ts'
import { reconcile } from './reconcile.ts'

let world: TestWorld

beforeAll(async () => {
  world = await testWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.reset())

const violated = (work: PromiseLike<unknown>) => Promise.resolve(work).then(() => null, constraintOf)

describe('a claim', () => {
  test('is given to one of many that ask at once', async () => {
    const { deployment_id } = await world.create('launch', LAUNCH)
    const claims = await Promise.all(Array.from({ length: 20 }, () => world.store.claim(deployment_id)))
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
  })

  test('is refused before the deployment is due, while somebody holds it, and after its end', async () => {
    const { deployment_id, model_id } = await world.create('launch', LAUNCH)
    const held = (await world.store.claim(deployment_id))!
    expect(await world.store.claim(deployment_id)).toBeNull()
    await world.store.record(held, after(held, endpoint({ generation: 1, state: 'building' })))
    expect(await world.store.claim(deployment_id)).toBeNull()
    await world.run(model_id)
    await world.pass(60_000)
    expect(await world.store.claim(deployment_id)).toBeNull()
  })

  test('of a lost worker passes on when its lease is over, with a higher fencing token', async () => {
    const { deployment_id } = await world.create('launch', LAUNCH)
    const lost = (await world.store.claim(deployment_id))!
    await world.pass(30_000)
    expect(await world.store.claim(deployment_id)).toMatchObject({ fence: lost.fence + 1 })
  })
})

describe('a frozen worker', () => {
  test('writes nothing when it wakes up after somebody else took over', async () => {
    const { deployment_id, model_id } = await world.create('launch', LAUNCH)
    const frozen = (await world.store.claim(deployment_id))!
    await world.pass(31_000)
    await world.run(model_id)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
    const fatal = after(frozen, error('vendor_rejected', { retryable: false }))
    expect(await world.store.record(frozen, fatal)).toBe(false)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', model_availability: 'available' })
    expect(await world.history(model_id)).toHaveLength(1)
  })

  test('sends nothing when it wakes up after its step', async () => {
    const { deployment_id } = await world.create('launch', LAUNCH)
    const frozen = (await world.store.claim(deployment_id))!
    await expect(world.ports.vendors.launch.ensure(frozen, startStep(0))).rejects.toThrow('ran out of time')
    expect(world.simulator.journal()).toEqual([])
  })

  test('of an older generation changes and removes nothing of a newer one', async () => {
    const { deployment_id, model_id } = await world.create('launch', LAUNCH)
    const frozen = (await world.store.claim(deployment_id))!
    await world.pass(31_000)
    await world.run(model_id)
    await world.update(model_id, LAUNCH)
    await world.run(model_id)
    await world.ports.vendors.launch.ensure(frozen, startStep(5_000))
    await world.ports.vendors.launch.destroy(frozen, startStep(5_000))
    expect(world.simulator.endpoint(endpointName(model_id))).toMatchObject({ generation: '2', status: 'READY' })
  })
})

describe('the sweeper', () => {
  test('sees what is overdue and held by nobody, the most overdue first', async () => {
    const [early, held, later] = [
      await world.create('launch', LAUNCH),
      await world.create('launch', LAUNCH),
      await world.create('launch', LAUNCH),
    ]
    await world.store.claim(held.deployment_id)
    const due = (await world.store.due(0, 1_000)).map(({ id }) => id)
    expect(due).not.toContain(held.deployment_id)
    expect(due.indexOf(early.deployment_id)).toBeLessThan(due.indexOf(later.deployment_id))
    expect(await world.store.due(3_600_000, 1_000)).toEqual([])
  })

  test('takes the accounts in turns: many overdue of one do not come before the first of another', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => world.create('launch', LAUNCH)))
    const one = await world.create('launch', LAUNCH, 'acct_modest')
    const due = (await world.store.due(0, 1_000)).map(({ id }) => id)
    expect(due.indexOf(one.deployment_id)).toBeLessThan(2)
    expect(due).toEqual(expect.arrayContaining(many.map(({ deployment_id }) => deployment_id)))
  })

  test('brings a deployment to its end without any doorbell', async () => {
    const { model_id } = await world.create('launch', LAUNCH)
    const options = { store: world.store, advance: world.step, lateMs: 0, batch: 100, concurrency: 4 }
    for (let round = 0; round < 60 && (await world.active(model_id)); round += 1) {
      await reconcile(options)
      await world.pass(2_000)
    }
    expect(await world.model(model_id)).toMatchObject({ status: 'ready' })
  })

  test('is told the backlog', async () => {
    await world.create('launch', LAUNCH)
    await world.pass(7_000)
    const { pending, oldestMs } = await world.store.backlog()
    expect(pending).toBeGreaterThan(0)
    expect(oldestMs).toBeGreaterThanOrEqual(7_000)
  })
})

describe('the constraints refuse', () => {
  test('a second deployment of a model that has one under way', async () => {
    const { model_id } = await world.create('launch', LAUNCH)
    expect(await violated(world.update(model_id, LAUNCH))).toBe(DEPLOYMENT_ACTIVE_KEY)
    expect(await violated(world.remove(model_id))).toBe(DEPLOYMENT_ACTIVE_KEY)
    await world.run(model_id)
    await world.remove(model_id)
    expect(await violated(world.update(model_id, LAUNCH))).toBe(DEPLOYMENT_ACTIVE_KEY)
    expect(await world.model(model_id)).toMatchObject({ status: 'ready', generation: 1 })
  })

  test('all but one of many updates and deletes at once', async () => {
    const { model_id } = await world.create('launch', LAUNCH)
    await world.run(model_id)
    const attempts = Array.from({ length: 10 }, (_, index) =>
      index % 2 ? world.remove(model_id) : world.update(model_id, LAUNCH),
    )
    const accepted = (await Promise.allSettled(attempts)).filter(({ status }) => status === 'fulfilled')
    expect(accepted).toHaveLength(1)
  })

  test('a model that says deploying while nobody deploys it', async () => {
    const { sql } = world.db
    const { model_id } = await world.create('launch', LAUNCH)
    await world.run(model_id)
    expect(await violated(sql`update platform.models set status = 'deploying' where id = ${model_id}`)).toBe(
      'models_deploying_is_under_way',
    )
    await world.update(model_id, LAUNCH)
    const ended = sql`update platform.deployments set phase = 'failed', finished_at = now() where model_id = ${model_id} and finished_at is null`
    expect(await violated(ended)).toBe('models_deploying_is_under_way')
  })

  test('a second model of one name and vendor, but not two names that change places', async () => {
    const { sql } = world.db
    const [one, other] = [
      (await world.create('launch', LAUNCH)).model_id,
      (await world.create('launch', LAUNCH)).model_id,
    ]
    expect(await violated(sql`update platform.models set name = ${one} where id = ${other}`)).toBe(MODEL_NAME_KEY)
    await sql`update platform.models set name = case id when ${one} then ${other} else ${one} end where id in (${one}, ${other})`
    expect(await world.model(one)).toMatchObject({ name: other })
  })

  test('a hosted model with a configuration or a status other than ready', async () => {
    const { sql } = world.db
    const insert = (status: string, configuration: string | null) => sql`
      insert into platform.models (account_id, id, name, model_type, model_vendor, status, vendor_configuration,
        created_by_identity_type, created_by_user_id)
      values ('acct_test', ${`model_${status}${configuration}`}, ${`${status}${configuration}`}, 'completion', 'openai', ${status}, ${configuration}, 'user', 'user_1')`
    expect(await violated(insert('failed', null))).toBe('models_deployed_check')
    expect(await violated(insert('ready', '{}'))).toBe('models_deployed_check')
    expect(await violated(insert('ready', null))).toBeNull()
  })
})

describe('a record', () => {
  const untilSomebodyWaits = () =>
    eventually(async () => {
      const { sql } = world.db
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      expect(await waiting).not.toEqual([])
    })

  test('starts the deadline with the first acceptance, and not again', async () => {
    const { deployment_id, model_id } = await world.create('launch', LAUNCH)
    await world.pass(100_000)
    await world.run(model_id, ({ phase }) => phase === 'building')
    const held = (await world.history(model_id))[0]!
    expect(Date.parse(held.deadline!) - Date.parse(held.accepted_at!)).toBe(LIMITS.deployingMs)
    expect(Date.parse(held.accepted_at!) - Date.parse(held.created_at)).toBeGreaterThanOrEqual(100_000)
    await world.pass(10_000)
    await world.step(deployment_id)
    const again = (await world.history(model_id))[0]!
    expect(Date.parse(again.deadline!) - Date.parse(again.accepted_at!)).toBe(LIMITS.deployingMs)
  })

  test('ends a deployment, its model and the start of the cleanup together', async () => {
    const { deployment_id, model_id } = await world.create('launch', LAUNCH)
    const held = (await world.store.claim(deployment_id))!
    await world.store.record(held, after(held, error('vendor_rejected', { retryable: false })))
    expect(await world.model(model_id)).toMatchObject({ status: 'failed' })
    expect(await world.history(model_id)).toMatchObject([
      { kind: 'create', phase: 'failed' },
      { kind: 'cleanup', phase: 'queued', generation: 1 },
    ])
  })

  test('and a request that holds the model do not wait for each other', async () => {
    const { sql } = world.db
    const { account_id, deployment_id, model_id } = await world.create('launch', LAUNCH)
    const held = (await world.store.claim(deployment_id))!
    const isLocked = Promise.withResolvers<void>()
    const goesOn = Promise.withResolvers<void>()
    const request = sql.begin(async (tx) => {
      await tx`select from platform.models where account_id = ${account_id} and id = ${model_id} for update`
      isLocked.resolve()
      await goesOn.promise
      const asked = { account_id, id: typeId('deploy'), model_id, kind: 'delete', generation: 1 } as const
      await startDeployment(tx, { ...asked, model_vendor: 'launch', configuration: '{}', traceparent: null })
    })
    await isLocked.promise
    const recorded = world.store.record(held, after(held, error('vendor_rejected', { retryable: false })))
    await untilSomebodyWaits()
    goesOn.resolve()
    expect(await violated(request)).toBe(DEPLOYMENT_ACTIVE_KEY)
    expect(await recorded).toBe(true)
  })

  test('that waits in a circle with a request for the same name is tried again', async () => {
    const { deployment_id, model_id } = await world.create('launch', LAUNCH)
    const held = (await world.store.claim(deployment_id))!
    let recorded = Promise.resolve(false)
    const namesake = world.db.sql.begin(async (tx) => {
      // So that the record is what Postgres ends.
      await tx`set local deadlock_timeout = '1min'`
      await tx`set constraints platform.models_name_key deferred`
      await tx`insert into platform.models select (jsonb_populate_record(m, jsonb_build_object('id', 'model_namesake'))).*
        from platform.models m where id = ${model_id}`
      recorded = world.store.record(held, after(held, error('vendor_rejected', { retryable: false })))
      await untilSomebodyWaits()
      await tx`set constraints platform.models_name_key immediate`
    })
    expect(await violated(namesake)).toBe(MODEL_NAME_KEY)
    expect(await recorded).toBe(true)
  })
})
