import { platformRoutes } from '@keelson/contracts/platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from './test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>

beforeAll(async () => {
  app = await testApp()
  client = await app.client()
})
afterAll(async () => await app?.[Symbol.asyncDispose]())

const routes = Object.fromEntries(platformRoutes.map((route) => [route.operationId, route]))
type Request = Parameters<typeof client.raw>[1]
const call = async (operation: string, request: Request) => {
  const { status, headers, text } = await client.raw(routes[operation]!, request)
  return { status, tag: headers.get('etag') ?? '', text, body: text === '' ? null : JSON.parse(text) }
}

let count = 0
const OBJECTS = {
  Credential: {
    body: () => ({ name: `c${count++}`, type: 'key', payload: 'p' }),
    params: (id: string) => ({ credential_id: id }),
  },
  Model: {
    body: () => ({ name: `m${count++}`, model_type: 'generic', model_vendor: 'openai' }),
    params: (id: string) => ({ model_id: id }),
  },
}

describe.each(['Credential', 'Model'] as const)('%s', (noun) => {
  const create = async () => {
    const { tag, body } = await call(`create${noun}`, { body: OBJECTS[noun].body() })
    const params = OBJECTS[noun].params(body.id)
    const to = (operation: string, request: Request = {}) => call(operation + noun, { params, ...request })
    return { tag, to }
  }

  test('a reader who has it is told so; one who has another revision gets this one', async () => {
    const { tag, to } = await create()
    const again = await to('get', { headers: { 'if-none-match': tag } })
    expect([again.status, again.text, again.tag]).toEqual([304, '', tag])
    const changed = await to('update', { body: { name: `n${count++}` } })
    expect(changed.tag).not.toBe(tag)
    const other = await to('get', { headers: { 'if-none-match': tag } })
    expect([other.status, other.tag]).toEqual([200, changed.tag])
  })

  test('of writers who had seen the same revision exactly one changes it, and no deletion follows a change unseen', async () => {
    const { tag, to } = await create()
    const headers = { 'if-match': tag }
    const writes = Array.from({ length: 10 }, (_, index) =>
      to('update', { headers, body: { name: `w${count}${index}` } }),
    )
    const statuses = (await Promise.all(writes)).map(({ status }) => status)
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, ...Array.from({ length: 9 }, () => 412)])
    expect((await to('delete', { headers })).status).toBe(412)
    const { tag: now } = await to('get')
    expect((await to('delete', { headers: { 'if-match': now } })).status).toBe(200)
    expect((await to('delete', { headers: { 'if-match': now } })).status).toBe(404)
  })
})

test('a new payload is a new revision, although nothing of it can be seen', async () => {
  const { tag, body } = await call('createCredential', { body: OBJECTS.Credential.body() })
  const params = { credential_id: body.id }
  const { tag: next } = await call('updateCredential', { params, body: { payload: 'q' } })
  expect(next).not.toBe(tag)
})

test('when a model is next looked after is no change of it', async () => {
  const { tag, body } = await call('createModel', { body: OBJECTS.Model.body() })
  await app.db.sql`update platform.models set observe_at = now() where id = ${body.id}`
  expect((await call('getModel', { params: { model_id: body.id } })).tag).toBe(tag)
})
