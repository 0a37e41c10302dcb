import { afterAll, beforeAll, expect, test } from 'vitest'
import { after, endpoint, error } from '../fixtures/claims.fixture.ts'
import { LAUNCH, LIMITS, testWorld, type TestWorld } from '../fixtures/world.fixture.ts'
import type { Claim } from '../deployments/deployment.ts'
import { seededRandom } from './clock.ts'
import { simulatedStore } from './store.ts'
import { simulatedTables } from './tables.ts'

let world: TestWorld

beforeAll(async () => {
  world = await testWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const HISTORIES = 25
const MOVES = 30

/** A claim without what only one of the two stores knows; times to the second, for the real one's clock runs on. */
const comparable = (claim: Claim | null) => {
  if (claim === null) return null
  const { kind, generation, phase, reason_code, status_message, attempts, fence, model_availability, mayHaveActed } =
    claim
  const seconds = (ms: number | null) => (ms === null ? null : Math.round(ms / 1_000))
  const times = [claim.queuedMs, claim.acceptedMs, claim.leftMs, claim.settlesInMs].map(seconds)
  const row = { kind, generation, phase, reason_code, status_message, attempts, fence }
  return { ...row, model_availability, mayHaveActed, times }
}

const SIGHTINGS = [
  () => null,
  ({ generation }: Claim) => endpoint({ generation, state: 'building', workers: null }),
  ({ generation }: Claim) => endpoint({ generation }),
  ({ generation }: Claim) => endpoint({ generation: generation - 1 }),
  ({ generation }: Claim) => endpoint({ generation, state: 'failed', reason: 'broken' }),
  () => error('vendor_unavailable', { uncertain: true }),
  () => error('vendor_unavailable'),
  () => error('vendor_rejected', { retryable: false }),
]

const pick = <Item>(items: readonly Item[], random: () => number): Item => items[Math.floor(random() * items.length)]!

/** The same random moves on both stores. */
const play = async (seed: number) => {
  const random = seededRandom(seed)
  const virtual = { now: 1_000_000 }
  const now = () => virtual.now
  const onDue = () => {}
  const tables = simulatedTables(now, onDue)
  const guards = { fence: true, settling: true }
  const simulated = simulatedStore(tables, { now, leaseMs: 30_000, limits: LIMITS, guards, onDue })
  const { model_id } = await world.create('launch', LAUNCH)
  tables.accept('create')
  const held: { real: Claim; simulated: Claim }[] = []

  const request = async (kind: 'update' | 'delete') => {
    const real = kind === 'update' ? world.update(model_id, LAUNCH) : world.remove(model_id)
    const accepted = await real.then(
      () => true,
      () => false,
    )
    expect(accepted, `${kind} accepted`).toBe(tables.accept(kind))
  }
  const claim = async (index: number) => {
    const [real, other] = [(await world.history(model_id))[index], tables.rows[index]]
    if (!real || !other) return
    const claims = { real: await world.store.claim(real.id), simulated: await simulated.claim(other.id) }
    expect(comparable(claims.real)).toEqual(comparable(claims.simulated))
    if (claims.real && claims.simulated) held.push({ real: claims.real, simulated: claims.simulated })
  }
  const record = async () => {
    const claims = pick(held, random)
    if (claims === undefined) return
    const change = after(claims.simulated, pick(SIGHTINGS, random)(claims.simulated))
    expect(await world.store.record(claims.real, change)).toBe(await simulated.record(claims.simulated, change))
  }
  const pass = async () => {
    const ms = pick([0, 5_000, 20_000, 31_000, 200_000], random)
    virtual.now += ms
    await world.pass(ms)
  }

  for (let move = 0; move < MOVES && !tables.model.removed; move += 1) {
    const moves = [() => claim(tables.rows.length - 1), () => claim(0), record, record, record, pass, pass]
    await pick([...moves, () => request(random() < 0.3 ? 'delete' : 'update')], random)()
  }
  return { model_id, tables }
}

const facts = (rows: readonly object[], names: readonly string[]) =>
  rows.map((row) => names.map((name) => (row as Record<string, unknown>)[name]))

const MODEL = ['status', 'model_availability', 'generation']
const DEPLOYMENT = ['kind', 'generation', 'phase', 'reason_code', 'attempts', 'fence']

test('the simulated store and Postgres agree about every claim, every record and every end', async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const { model_id, tables } = await play(seed)
    const [model, history] = [await world.model(model_id), await world.history(model_id)]
    const { removed } = tables.model
    expect(facts(model ? [model] : [], MODEL), `seed ${seed}`).toEqual(facts(removed ? [] : [tables.model], MODEL))
    expect(facts(history, DEPLOYMENT), `seed ${seed}`).toEqual(facts(removed ? [] : tables.rows, DEPLOYMENT))
  }
})
