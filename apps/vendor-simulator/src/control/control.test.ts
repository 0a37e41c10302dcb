import { expect, test } from 'vitest'
import { controlClient } from '../control-client.ts'
import { LLM, llmBody, stage, type Stage } from '../test-vendor.ts'

const remote = async () => {
  const it = await stage({ default_profile: 'instant', seed: 'a' })
  return { ...it, control: controlClient(it.sim.url) }
}
const create = ({ ask }: Stage, name = 'llm-1') => ask('POST', LLM, llmBody({ name }))

test('the summary tells seed, clock, settings and counts', async () => {
  await using it = await remote()
  await create(it)
  expect(await it.control.summary()).toMatchObject({
    seed: 'a',
    time_scale: 0,
    now_ms: 0,
    endpoints: 1,
    requests: 1,
    settings: { default_profile: 'instant', cache: { enabled: false } },
  })
})

test('the journal has every request in order, and can be searched and cleared', async () => {
  await using it = await remote()
  await create(it)
  await it.ask('GET', `${LLM}/llm-1`)
  await it.ask('GET', `${LLM}/llm-2`)
  expect(await it.control.journal()).toMatchObject([
    { seq: 1, operation: 'llm.create', endpoint: 'llm-1', generation: '1', sent: 200, committed: true, owner: 'key' },
    { seq: 2, operation: 'llm.get', endpoint: 'llm-1', body: null, outcome: 200, committed: false },
    { seq: 3, operation: 'llm.get', endpoint: 'llm-2', outcome: 404, error: expect.any(String) },
  ])
  expect(await it.control.journal({ operation: 'llm.get', since: 2 })).toMatchObject([{ seq: 3 }])
  expect(await it.control.journal({ endpoint: 'llm-1', limit: 1 })).toMatchObject([{ seq: 1 }])
  await it.control.clearJournal()
  expect(await it.control.journal()).toEqual([])
})

test('the journal forgets the oldest requests beyond its limit', async () => {
  await using it = await stage({ journalLimit: 5 })
  for (let request = 0; request < 12; request += 1) await it.ask('GET', LLM)
  expect(it.sim.journal().map(({ seq }) => seq)).toEqual([8, 9, 10, 11, 12])
})

test('an endpoint can be looked at, lose its workers and vanish', async () => {
  await using it = await remote()
  await create(it)
  expect(await it.control.endpoint('llm-1')).toMatchObject({
    status: 'READY',
    available_workers: 1,
    profile: 'instant',
  })
  expect(await it.control.setWorkers('llm-1', 0)).toBe(true)
  const { body } = await it.ask('GET', `${LLM}/llm-1`)
  expect(body).toMatchObject({
    status: 'READY',
    spec: { deployment_state: { available_workers: 0, unavailable_workers: 1 } },
  })
  await it.control.setWorkers('llm-1', null)
  expect(await it.control.endpoints()).toMatchObject([{ available_workers: 1 }])
  expect(await it.control.vanish('llm-1')).toBe(true)
  expect((await it.ask('GET', `${LLM}/llm-1`)).status).toBe(404)
  expect(await it.control.vanish('llm-1')).toBe(false)
  expect(await it.control.setWorkers('llm-1', 1)).toBe(false)
  expect(await it.control.endpoint('llm-1')).toBeNull()
})

test('faults are added, listed and removed', async () => {
  await using it = await remote()
  const id = await it.control.addFault({ kind: 'status', status: 503, count: null })
  expect((await create(it)).status).toBe(503)
  expect(await it.control.faults()).toMatchObject([{ id, kind: 'status', struck: 1, when: 'before' }])
  expect(await it.control.removeFault(id)).toBe(true)
  expect(await it.control.removeFault(id)).toBe(false)
  await it.control.addFault({ kind: 'reset' })
  await it.control.clearFaults()
  expect((await create(it)).status).toBe(200)
})

test('profiles are defined and assigned by name, the newest assignment first', async () => {
  await using it = await remote()
  await it.control.defineProfile('mine', { create: { pending_ms: 1, in_progress_ms: null } })
  expect((await it.control.profiles())['mine']).toMatchObject({ create: { pending_ms: 1, fail_first: 0 } })
  await it.control.assign({ endpoint: 'llm-*', profile: 'mine' })
  await it.control.assign({ endpoint: '*-2', profile: 'stuck-pending' })
  expect(await it.control.assignments()).toHaveLength(2)
  for (const name of ['llm-1', 'llm-2', 'other']) await create(it, name)
  await it.control.advance(60_000)
  const statuses = (await it.control.endpoints()).map(({ status }) => status)
  expect(statuses).toEqual(['UPDATE_IN_PROGRESS', 'UPDATE_PENDING', 'READY'])
  await it.control.clearAssignments()
  await create(it, 'llm-3')
  expect((await it.control.endpoint('llm-3'))?.status).toBe('READY')
})

test('settings change in part, and the rest stays', async () => {
  await using it = await remote()
  const before = await it.control.settings()
  const after = await it.control.configure({ default_profile: 'slow', cache: { replicas: 5 } })
  expect(after).toEqual({ ...before, default_profile: 'slow', cache: { ...before.cache, replicas: 5 } })
})

test('violations, orphans and watched secrets are reported', async () => {
  await using it = await remote()
  await it.control.watchSecret('hunter2-hunter2')
  await it.ask('POST', LLM, llmBody({ metadata: { note: 'hunter2-hunter2' } }))
  expect(await it.control.violations()).toMatchObject([{ kind: 'secret_in_metadata', endpoint: 'llm-1' }])
  expect(await it.control.orphans([])).toMatchObject({ endpoints: ['llm-1'] })
})

test('a reset leaves an empty vendor and the settings', async () => {
  await using it = await remote()
  await create(it)
  await it.control.addFault({ kind: 'reset', count: null })
  await it.control.assign({ endpoint: '*', profile: 'slow' })
  await it.control.reset({ seed: 'b' })
  expect(await it.control.summary()).toMatchObject({ seed: 'b', endpoints: 0, requests: 0, faults: 0, violations: 0 })
  expect([await it.control.journal(), await it.control.assignments()]).toEqual([[], []])
  expect((await it.control.settings()).default_profile).toBe('instant')
})

test.each([
  ['POST', '/faults', { kind: 'explode' }],
  ['POST', '/faults', { kind: 'reset', oops: 1 }],
  ['POST', '/faults', { kind: 'reset', operation: 'llm.destroy' }],
  ['PUT', '/profiles/x', { create: { pending_ms: -1 } }],
  ['POST', '/assignments', { profile: 'nobody-knows' }],
  ['PATCH', '/settings', { default_profile: 'nobody-knows' }],
  ['PATCH', '/settings', { cache: { replicas: 0 } }],
  ['POST', '/clock/advance', {}],
])('%s %s refuses what it does not understand', async (method, path, body) => {
  await using it = await remote()
  const request = { method, body: JSON.stringify(body) }
  const response = await fetch(`${it.sim.url}/__sim${path}`, request)
  expect([response.status, await response.json()]).toMatchObject([422, { error: expect.any(String) }])
})
