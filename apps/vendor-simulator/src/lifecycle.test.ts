import { expect, test } from 'vitest'
import { PROFILE_KEY } from './choose-profile.ts'
import { stage, LLM, LABELS, llmBody, createApp, ENDPOINTS, idOf, type Ask } from './test-vendor.ts'

type Moment = [atMs: number, status: string, workers: number | null, reason?: string]

const GENERIC = 'Endpoint deployment failed due to an internal error.'
const IMAGE = "Image build failed. Check that the bundle's image and dependencies are valid and accessible."
const BUILDING: Moment[] = [
  [0, 'UPDATE_PENDING', null],
  [1_999, 'UPDATE_PENDING', null],
  [2_000, 'UPDATE_IN_PROGRESS', null],
  [9_999, 'UPDATE_IN_PROGRESS', null],
]
const HOUR_MS = 3_600_000

const TIMELINES: Record<string, Moment[]> = {
  happy: [...BUILDING, [10_000, 'READY', 0], [14_999, 'READY', 0], [15_000, 'READY', 3], [HOUR_MS, 'READY', 3]],
  instant: [[0, 'READY', 3]],
  slow: [
    ...BUILDING,
    [2 * HOUR_MS, 'UPDATE_IN_PROGRESS', null],
    [2 * HOUR_MS + 2_000, 'READY', 0],
    [3 * HOUR_MS, 'READY', 3],
  ],
  'slow-workers': [
    ...BUILDING,
    [10_000, 'READY', 0],
    [70_000, 'READY', 1],
    [130_000, 'READY', 2],
    [190_000, 'READY', 3],
  ],
  'fail-build': [...BUILDING, [10_000, 'UPDATE_FAILED', null, IMAGE], [HOUR_MS, 'UPDATE_FAILED', null, IMAGE]],
  'fail-build-generic': [...BUILDING, [10_000, 'UPDATE_FAILED', null, GENERIC]],
  'fails-first': [...BUILDING, [10_000, 'UPDATE_FAILED', null, GENERIC]],
  'stuck-pending': [
    [0, 'UPDATE_PENDING', null],
    [24 * HOUR_MS, 'UPDATE_PENDING', null],
  ],
  'stuck-in-progress': [...BUILDING, [24 * HOUR_MS, 'UPDATE_IN_PROGRESS', null]],
  'zero-workers': [...BUILDING, [10_000, 'READY', 0], [24 * HOUR_MS, 'READY', 0]],
  'crash-loop': [
    [15_000, 'READY', 3],
    [34_999, 'READY', 3],
    [35_000, 'READY', 0],
    [55_000, 'READY', 3],
    [75_000, 'READY', 0],
  ],
  'scale-to-zero': [
    [15_000, 'READY', 3],
    [74_999, 'READY', 3],
    [75_000, 'READY', 0],
    [HOUR_MS, 'READY', 0],
  ],
  'multi-node': [[10_000, 'READY', 3]],
  'update-fails': [...BUILDING, [15_000, 'READY', 3]],
  'infra-late': [...BUILDING, [10_000, 'READY', null], [129_999, 'READY', null], [130_000, 'READY', 3]],
  'delete-slow': [[15_000, 'READY', 3]],
  'delete-500-once': [[15_000, 'READY', 3]],
  'delete-fails': [[15_000, 'READY', 3]],
}

const see = async (ask: Ask): Promise<[string, number | null, string | null]> => {
  const { status, spec } = (await ask('GET', `${LLM}/llm-1`)).body
  return [status, spec.deployment_state?.available_workers ?? null, spec.status_reason]
}

test('every built-in profile has a timeline here', async () => {
  await using it = await stage()
  expect(Object.keys(it.sim.profiles()).toSorted()).toEqual(Object.keys(TIMELINES).toSorted())
})

test.each(Object.entries(TIMELINES))(
  'a created endpoint of profile %s goes through its timeline',
  async (profile, timeline) => {
    await using it = await stage()
    const labels = { ...LABELS, [PROFILE_KEY]: profile }
    const created = await it.ask('POST', LLM, llmBody({ min_workers: 3, max_workers: 3, labels }))
    expect(created.status).toBe(200)
    let nowMs = 0
    for (const [atMs, status, workers, reason = null] of timeline) {
      it.sim.advance(atMs - nowMs)
      nowMs = atMs
      expect([atMs, ...(await see(it.ask))]).toEqual([atMs, status, workers, reason])
    }
  },
)

const update = (ask: Ask, generation: string, changes: object = {}) =>
  ask('PUT', `${LLM}/llm-1`, { metadata: { model_generation: generation }, ...changes })

const updated = async (profile: string) => {
  const it = await stage()
  await it.ask('POST', LLM, llmBody({ metadata: { model_generation: '1', [PROFILE_KEY]: 'happy' } }))
  it.sim.advance(15_000)
  const answer = await it.ask('PUT', `${LLM}/llm-1`, { metadata: { model_generation: '2', [PROFILE_KEY]: profile } })
  expect(answer.status).toBe(200)
  return it
}

test('the old version keeps serving until the workers of an update are up', async () => {
  await using it = await updated('happy')
  expect(await see(it.ask)).toEqual(['UPDATE_PENDING', 1, null])
  it.sim.advance(14_999)
  expect(await see(it.ask)).toEqual(['READY', 1, null])
  expect(it.sim.endpoint('llm-1')).toMatchObject({ generation: '2', serving_generation: '1' })
  it.sim.advance(1)
  expect(it.sim.endpoint('llm-1')).toMatchObject({ serving_generation: '2', available_workers: 1 })
})

test('an update that fails leaves the old version serving, with a reason', async () => {
  await using it = await updated('update-fails')
  it.sim.advance(10_000)
  expect(await see(it.ask)).toEqual(['UPDATE_FAILED', 1, IMAGE])
  expect(it.sim.endpoint('llm-1')).toMatchObject({ generation: '2', serving_generation: '1' })
})

test('an update whose workers never come up takes the old ones away', async () => {
  await using it = await updated('zero-workers')
  it.sim.advance(10_000)
  expect(await see(it.ask)).toEqual(['READY', 0, null])
})

test('a reason stays until the next READY', async () => {
  await using it = await updated('update-fails')
  it.sim.advance(10_000)
  await update(it.ask, '3', { metadata: { [PROFILE_KEY]: 'happy' } })
  it.sim.advance(9_999)
  expect(await see(it.ask)).toEqual(['UPDATE_IN_PROGRESS', 1, IMAGE])
  it.sim.advance(1)
  expect(await see(it.ask)).toEqual(['READY', 1, null])
})

test('a rollout that never was READY has no serving state, so an update meets 500', async () => {
  await using it = await stage()
  await it.ask('POST', LLM, llmBody())
  const answer = await update(it.ask, '2')
  expect(answer).toMatchObject({ status: 500, body: { error: 'Internal error occurred. Our team has been notified.' } })
  await createApp(it.ask)
  const generic = await it.ask('PUT', `${ENDPOINTS}/${await idOf(it.ask)}`, {})
  expect(generic).toMatchObject({ status: 500, body: { detail: 'Endpoint infra state not found, try again later.' } })
})

test('the first rollout of fails-first fails and the next one of that name succeeds, even after a delete', async () => {
  await using it = await stage({ default_profile: 'fails-first' })
  await it.ask('POST', LLM, llmBody())
  it.sim.advance(15_000)
  expect((await see(it.ask))[0]).toBe('UPDATE_FAILED')
  const gone = it.ask('DELETE', `${LLM}/llm-1`)
  await expect.poll(() => it.sim.endpoint('llm-1')?.status).toBe('DELETE_IN_PROGRESS')
  it.sim.advance(1_000)
  expect(await gone).toMatchObject({ status: 200, body: { deleted: true } })
  await it.ask('POST', LLM, llmBody())
  it.sim.advance(15_000)
  expect(await see(it.ask)).toEqual(['READY', 1, null])
})

test('a slow delete shows DELETE_IN_PROGRESS until it answers, and a second one answers with it', async () => {
  await using it = await stage({ default_profile: 'delete-slow' })
  await it.ask('POST', LLM, llmBody())
  it.sim.advance(15_000)
  const answers = [it.ask('DELETE', `${LLM}/llm-1`), it.ask('DELETE', `${LLM}/llm-1`)]
  await expect.poll(() => it.sim.journal({ operation: 'llm.delete' }).length).toBe(2)
  expect((await see(it.ask))[0]).toBe('DELETE_IN_PROGRESS')
  it.sim.advance(39_999)
  expect((await see(it.ask))[0]).toBe('DELETE_IN_PROGRESS')
  it.sim.advance(1)
  for (const answer of answers) expect((await answer).body).toEqual({ deleted: true })
  expect((await it.ask('GET', `${LLM}/llm-1`)).status).toBe(404)
})

test.each([
  ['delete-500-once', 200],
  ['delete-fails', 500],
])('with %s the first delete answers 500 and leaves UPDATE_FAILED, the second answers %i', async (profile, second) => {
  await using it = await stage({ default_profile: profile })
  await createApp(it.ask)
  it.sim.advance(15_000)
  const path = `${ENDPOINTS}/${await idOf(it.ask)}`
  const remove = async () => {
    const answer = it.ask('DELETE', path)
    await expect.poll(() => it.sim.endpoint('app-1')?.status).toBe('DELETE_IN_PROGRESS')
    it.sim.advance(1_000)
    return answer
  }
  expect(await remove()).toMatchObject({
    status: 500,
    body: { detail: 'deletion of endpoint failed, compute resources still exist.' },
  })
  expect(it.sim.endpoint('app-1')).toMatchObject({
    status: 'UPDATE_FAILED',
    status_reason: "Failed to delete the endpoint's infrastructure.",
    available_workers: 1,
  })
  expect((await remove()).status).toBe(second)
})

test.each([
  ['min_workers above max_workers', { min_workers: 2, max_workers: 1 }],
  ['a name longer than 63 characters', { name: 'x'.repeat(64) }],
])('the vendor accepts %s and the cluster then refuses it', async (_, changes) => {
  await using it = await stage()
  expect((await it.ask('POST', LLM, llmBody(changes))).status).toBe(200)
  it.sim.advance(10_000)
  expect(it.sim.endpoints()[0]).toMatchObject({ status: 'UPDATE_FAILED', status_reason: GENERIC })
})

test('an image that is nowhere is not looked for behind a registry, and no worker comes up', async () => {
  await using it = await stage()
  expect((await createApp(it.ask, {}, { tag: 'missing-1' })).status).toBe(200)
  it.sim.advance(HOUR_MS)
  expect(it.sim.endpoint('app-1')).toMatchObject({ status: 'READY', available_workers: 0, profile: 'zero-workers' })
})

test('overlapping rollouts race: the older one turns the newer stamp READY', async () => {
  await using it = await updated('happy')
  it.sim.advance(9_000)
  await update(it.ask, '3')
  it.sim.advance(1_000)
  expect((await it.ask('GET', `${LLM}/llm-1`)).body).toMatchObject({
    status: 'READY',
    spec: { metadata: { model_generation: '3' } },
  })
  expect(it.sim.violations()).toMatchObject([{ kind: 'overlapping_write', generation: '3' }])
})

test('what serves is remembered through any number of failures', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await it.ask('POST', LLM, llmBody())
  const fails = { pending_ms: 0, in_progress_ms: 0, fail_first: null }
  it.sim.defineProfile('failing', { create: fails, delete: { duration_ms: 0, fail_first: null } })
  it.sim.assign({ endpoint: '*', profile: 'failing' })
  for (let round = 2; round < 62; round += 1) {
    await update(it.ask, String(round))
    expect((await it.ask('DELETE', `${LLM}/llm-1`)).status).toBe(500)
  }
  expect(it.sim.endpoint('llm-1')).toMatchObject({ status: 'UPDATE_FAILED', generation: '61', serving_generation: '1' })
})
