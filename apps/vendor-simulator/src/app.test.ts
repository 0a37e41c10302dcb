import { expect, test } from 'vitest'
import { createApp, ENDPOINTS, idOf, LLM, llmBody, stage, vendor } from './test-vendor.ts'

const KEYS = { alpha: 'team-a', beta: 'team-b' }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test.each([
  ['Basic with the key as user', basic('alpha:'), 200],
  ['Bearer', 'Bearer alpha', 200],
  ['any case of the scheme', 'bEaReR alpha', 200],
  ['a wrong key', basic('gamma:'), 401],
  ['a wrong token', 'Bearer gamma', 401],
  ['the key as password', basic(':alpha'), 401],
  ['another scheme', 'Digest alpha', 401],
  ['nothing', undefined, 401],
])('a request with %s is answered accordingly', async (_, authorization, status) => {
  await using it = await stage({ keys: KEYS })
  const response = await fetch(it.sim.url + LLM, authorization ? { headers: { authorization } } : {})
  expect(response.status).toBe(status)
  if (status !== 401) return
  expect(response.headers.get('www-authenticate')).toMatch(/^(Basic|Bearer)$/)
  expect(await response.json()).toEqual({ detail: expect.any(String) })
})

test('without configured keys every key is accepted and owns its own endpoints', async () => {
  await using it = await stage()
  await createApp(it.ask)
  const other = vendor(it.sim, 'other')
  expect((await other('GET', ENDPOINTS)).body).toEqual({ model_endpoints: [] })
  expect((await createApp(other)).status).toBe(200)
})

test("another owner's endpoint is not there, and a public one cannot be changed or deleted", async () => {
  await using it = await stage({ keys: KEYS, default_profile: 'instant' })
  const [mine, theirs] = [vendor(it.sim, 'alpha'), vendor(it.sim, 'beta')]
  await mine('POST', LLM, llmBody())
  await mine('POST', LLM, llmBody({ name: 'llm-2', public_inference: true }))
  await createApp(mine)
  const id = await idOf(mine)
  const status = async (method: string, path: string) =>
    (await theirs(method, path, method === 'PUT' ? {} : undefined)).status
  for (const method of ['GET', 'PUT', 'DELETE']) expect(await status(method, `${LLM}/llm-1`)).toBe(404)
  for (const method of ['GET', 'PUT', 'DELETE']) expect(await status(method, `${ENDPOINTS}/${id}`)).toBe(404)
  expect(await status('GET', `${LLM}/llm-2`)).toBe(200)
  expect(await status('PUT', `${LLM}/llm-2`)).toBe(404)
  expect(await status('DELETE', `${LLM}/llm-2`)).toBe(403)
  expect((await theirs('GET', LLM)).body.model_endpoints).toMatchObject([{ name: 'llm-2' }])
  expect((await theirs('POST', LLM, llmBody())).status).toBe(500)
})

test('an unknown path is 404 and a wrong method 405', async () => {
  await using it = await stage()
  expect(await it.ask('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { detail: 'Not Found' } })
  const wrong = await it.ask('PATCH', `${LLM}/llm-1`, {})
  expect(wrong).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } })
  expect(wrong.headers.get('allow')).toBe('GET, PUT, DELETE')
})

test.each(['/healthz', '/readyz', '/healthcheck'])('%s needs no key and knows no fault', async (path) => {
  await using it = await stage()
  it.sim.addFault({ kind: 'status', status: 503, count: null })
  expect((await fetch(it.sim.url + path)).status).toBe(200)
})

test('an old server answers 409 to writes that overlap, and has no status_reason', async () => {
  await using it = await stage({ server: { conflict_409: true, status_reason: false } })
  await it.ask('POST', LLM, llmBody())
  const conflict = { status: 409, body: { detail: 'Existing operation on endpoint in progress, try again later.' } }
  expect(await it.ask('DELETE', `${LLM}/llm-1`)).toMatchObject(conflict)
  it.sim.advance(15_000)
  await it.ask('PUT', `${LLM}/llm-1`, {})
  expect(await it.ask('PUT', `${LLM}/llm-1`, {})).toMatchObject(conflict)
  expect((await it.ask('GET', `${LLM}/llm-1`)).body.spec).not.toHaveProperty('status_reason')
  expect(it.sim.violations()).toEqual([])
})
