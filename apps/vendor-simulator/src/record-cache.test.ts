import { expect, test } from 'vitest'
import { createApp, ENDPOINTS, idOf, LLM, llmBody, stage, type Ask } from './test-vendor.ts'

const WINDOW_MS = 15_000
const PATH = `${LLM}/llm-1`

const cached = (replicas: number) =>
  stage({ default_profile: 'instant', cache: { enabled: true, replicas, ttl_ms: WINDOW_MS, infra_refresh_ms: 0 } })

const stampOf = async (ask: Ask) => (await ask('GET', PATH)).body.spec.metadata.model_generation
const statusOf = async (ask: Ask) => (await ask('GET', PATH)).body.status
const update = (ask: Ask, generation: string) => ask('PUT', PATH, { metadata: { model_generation: generation } })
const listed = async (ask: Ask, name: string) =>
  (await ask('GET', `${ENDPOINTS}?name=${name}`)).body.model_endpoints.length

test('after an update a read by name still tells the old version, until the window is over', async () => {
  await using it = await cached(1)
  await it.ask('POST', LLM, llmBody())
  expect(await stampOf(it.ask)).toBe('1')
  it.sim.assign({ endpoint: '*', profile: 'happy' })
  await update(it.ask, '2')
  it.sim.advance(WINDOW_MS - 1)
  expect([await stampOf(it.ask), await statusOf(it.ask)]).toEqual(['1', 'READY'])
  it.sim.advance(1)
  expect([await stampOf(it.ask), await statusOf(it.ask)]).toEqual(['2', 'READY'])
})

test('a stale READY hides that an update is under way', async () => {
  await using it = await cached(1)
  await it.ask('POST', LLM, llmBody())
  await statusOf(it.ask)
  it.sim.assign({ endpoint: '*', profile: 'stuck-pending' })
  await update(it.ask, '2')
  expect(await statusOf(it.ask)).toBe('READY')
  it.sim.advance(WINDOW_MS)
  expect(await statusOf(it.ask)).toBe('UPDATE_PENDING')
})

test('the replica that did a write knows it by id at once', async () => {
  await using it = await cached(1)
  await createApp(it.ask)
  it.sim.advance(WINDOW_MS)
  const path = `${ENDPOINTS}/${await idOf(it.ask)}`
  await it.ask('GET', path)
  await it.ask('PUT', path, { metadata: { model_generation: '2' } })
  expect((await it.ask('GET', path)).body.metadata).toEqual({ model_generation: '2' })
})

test('a list by name that was empty before a create stays empty for the window', async () => {
  await using it = await cached(1)
  expect(await listed(it.ask, 'app-1')).toBe(0)
  await createApp(it.ask)
  it.sim.advance(WINDOW_MS - 1)
  expect(await listed(it.ask, 'app-1')).toBe(0)
  it.sim.advance(1)
  expect(await listed(it.ask, 'app-1')).toBe(1)
})

test('a second create behind a stale list is stopped by the database only, with 500', async () => {
  await using it = await cached(1)
  expect((await createApp(it.ask)).status).toBe(200)
  expect(await createApp(it.ask)).toMatchObject({ status: 500, body: { request_id: expect.any(String) } })
  it.sim.advance(WINDOW_MS)
  expect(await createApp(it.ask)).toMatchObject({
    status: 400,
    body: { detail: 'The specified model endpoint already exists.' },
  })
})

test('a deleted endpoint is a ghost in reads by name for the window', async () => {
  await using it = await cached(1)
  await it.ask('POST', LLM, llmBody())
  await stampOf(it.ask)
  expect((await it.ask('DELETE', PATH)).status).toBe(200)
  it.sim.advance(WINDOW_MS - 1)
  expect((await it.ask('GET', PATH)).status).toBe(200)
  expect((await update(it.ask, '2')).status).toBe(500)
  it.sim.advance(1)
  expect((await it.ask('GET', PATH)).status).toBe(404)
})

test('a create after a delete is refused while the list still has the ghost', async () => {
  await using it = await cached(1)
  await createApp(it.ask)
  it.sim.advance(WINDOW_MS)
  expect(await listed(it.ask, 'app-1')).toBe(1)
  await it.ask('DELETE', `${ENDPOINTS}/${it.sim.endpoint('app-1')?.id}`)
  expect((await createApp(it.ask)).status).toBe(400)
  it.sim.advance(WINDOW_MS)
  expect((await createApp(it.ask)).status).toBe(200)
})

test('a delete of an LLM endpoint meets 404 where the list is from before the create', async () => {
  await using it = await cached(1)
  expect((await it.ask('DELETE', PATH)).status).toBe(404)
  await it.ask('POST', LLM, llmBody())
  expect((await it.ask('DELETE', PATH)).status).toBe(404)
  expect(it.sim.endpoint('llm-1')).not.toBeNull()
  it.sim.advance(WINDOW_MS)
  expect((await it.ask('DELETE', PATH)).status).toBe(200)
})

test('replicas that read at different times disagree, so the status flaps', async () => {
  await using it = await cached(4)
  const round = async () => [
    await statusOf(it.ask),
    await statusOf(it.ask),
    await statusOf(it.ask),
    await statusOf(it.ask),
  ]
  await it.ask('POST', LLM, llmBody())
  await statusOf(it.ask)
  await statusOf(it.ask)
  it.sim.assign({ endpoint: '*', profile: 'stuck-pending' })
  await update(it.ask, '2')
  // The one that made the update had read the old row for it; only the first has not read since.
  expect(await round()).toEqual(['UPDATE_PENDING', 'READY', 'READY', 'READY'])
  expect(await round()).toEqual(['UPDATE_PENDING', 'READY', 'READY', 'READY'])
  expect(it.sim.journal().map(({ replica }) => replica)).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
})

test('workers lag behind by up to one refresh of the cluster', async () => {
  await using it = await stage({ cache: { enabled: true, replicas: 1, ttl_ms: 0, infra_refresh_ms: 15_000 } })
  const workers = async () => (await it.ask('GET', PATH)).body.spec.deployment_state?.available_workers
  it.sim.advance(4_000)
  await it.ask('POST', LLM, llmBody())
  it.sim.advance(10_500)
  expect(await workers()).toBe(0)
  it.sim.advance(5_000)
  expect([it.sim.endpoint('llm-1')?.available_workers, await workers()]).toEqual([1, 0])
  it.sim.advance(10_500)
  expect(await workers()).toBe(1)
})

test('switched off, every read is the truth', async () => {
  await using it = await stage({ default_profile: 'instant' })
  expect(await listed(it.ask, 'app-1')).toBe(0)
  await createApp(it.ask)
  expect(await listed(it.ask, 'app-1')).toBe(1)
  expect((await createApp(it.ask)).status).toBe(400)
  await it.ask('DELETE', `${ENDPOINTS}/${await idOf(it.ask)}`)
  expect(await listed(it.ask, 'app-1')).toBe(0)
})
