import { expect, test } from 'vitest'
import { createSimulator, startSimulator, type FaultInput } from './simulator.ts'
import { createApp, LLM, llmBody, stage, vendor, type Ask } from './test-vendor.ts'

const statusOf = async (ask: Ask) => (await ask('GET', `${LLM}/llm-1`)).body.status

test('a lifecycle runs on its own, faster by the time scale', async () => {
  await using sim = await startSimulator({ timeScale: 20, cache: { enabled: false } })
  const ask = vendor(sim)
  const started = performance.now()
  const sinceStart = () => performance.now() - started
  await ask('POST', LLM, llmBody())
  expect(await statusOf(ask)).toMatch(/^UPDATE_/)
  await expect.poll(() => statusOf(ask), { interval: 10 }).toBe('READY')
  expect(sinceStart()).toBeGreaterThanOrEqual(500)
  await expect.poll(() => sim.endpoint('llm-1')?.available_workers, { interval: 10 }).toBe(1)
  expect(sinceStart()).toBeGreaterThanOrEqual(750)
  const deleting = performance.now()
  expect((await ask('DELETE', `${LLM}/llm-1`)).body).toEqual({ deleted: true })
  expect(performance.now() - deleting).toBeGreaterThanOrEqual(49)
})

test('timestamps are times of the machine and grow with each transition', async () => {
  await using sim = await startSimulator({ timeScale: 1000, cache: { enabled: false } })
  const ask = vendor(sim)
  const before = Date.now()
  await ask('POST', LLM, llmBody())
  await expect.poll(() => statusOf(ask)).toBe('READY')
  const { spec } = (await ask('GET', `${LLM}/llm-1`)).body
  const [created, updated] = [Date.parse(spec.created_at), Date.parse(spec.last_updated_at)]
  expect(created).toBeGreaterThanOrEqual(before - 1)
  expect(updated).toBeGreaterThanOrEqual(created + 10)
  expect(updated).toBeLessThanOrEqual(Date.now() + 1)
})

const play = async (seed: string, extra: FaultInput[] = []) => {
  await using it = await stage({ seed, epochMs: 0, cache: { enabled: true, replicas: 3 } })
  for (const fault of extra) it.sim.addFault(fault)
  it.sim.addFault({ kind: 'status', status: 503, probability: 0.4, count: null })
  const answers: unknown[] = []
  const take = async (method: string, path: string, body?: unknown) => {
    const answer = await it.ask(method, path, body)
    answers.push([answer.status, answer.body])
  }
  for (let round = 0; round < 10; round += 1) {
    await take('POST', LLM, llmBody({ name: `llm-${round % 3}` }))
    answers.push((await createApp(it.ask, { name: `app-${round}` })).status)
    it.sim.advance(3_000)
    await take('GET', LLM)
    await take('PUT', `${LLM}/llm-1`, { metadata: { model_generation: String(round) } })
  }
  return { answers, journal: it.sim.journal(), endpoints: it.sim.endpoints(), violations: it.sim.violations() }
}

test('the same requests under the same seed meet the same vendor, to the last id', async () => {
  const first = await play('seed')
  expect(await play('seed')).toEqual(first)
  expect(first.journal.some(({ fault }) => fault !== null)).toBe(true)
  expect((await play('other')).answers).not.toEqual(first.answers)
})

test('a simulator that does not listen answers requests all the same', async () => {
  using sim = createSimulator({ timeScale: 0 })
  const response = await sim.app.request('/v1/model-endpoints', { headers: { authorization: 'Bearer key' } })
  expect(await response.json()).toEqual({ model_endpoints: [] })
})

test('a taken port is an error', async () => {
  await using sim = await startSimulator()
  await expect(startSimulator({ port: sim.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
