import { expect, test } from 'vitest'
import { readBody } from './request-body.ts'
import { send, testService } from './test-service.ts'

const service = testService()
service.raw('post', '/hooks/:name/*', async (c) => {
  const body = await readBody(c.req.raw, c.env, 100)
  return {
    status: 202,
    headers: { 'cache-control': 'private', 'x-upstream': 'yes', 'x-request-id': 'another' },
    body: `${c.env.path}?${c.env.query} ${body.length}`,
  }
})
service.raw('get', '/upstream', () => ({ status: 302, headers: { location: 'http://elsewhere.test/' } }))

test('a raw route sees the path and query as they were received, and needs no key', async () => {
  const { status, text } = await send(service, '/hooks/a%2Fb/c%20d?x=%zz', { body: 'body', key: null })
  expect([status, text]).toEqual([202, '/hooks/a%2Fb/c%20d?x=%zz 4'])
})

test('its answers get a request id and nosniff, which are ours to say, and keep their other headers', async () => {
  const { headers } = await send(service, '/hooks/a/b', { body: '' })
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'private',
    'x-upstream': 'yes',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.not.stringContaining('another'),
  })
  const redirect = await send(service, '/upstream')
  expect([redirect.status, redirect.headers.get('location'), redirect.headers.get('cache-control')]).toEqual([
    302,
    'http://elsewhere.test/',
    'no-store',
  ])
})

test('it reads a body within a limit', async () => {
  expect(await send(service, '/hooks/a/b', { body: 'x'.repeat(101) })).toMatchObject({
    status: 413,
    json: { code: 'payload_too_large' },
  })
})

test('it has 405 like any other path', async () => {
  expect(await send(service, '/hooks/a/b', { method: 'DELETE' })).toMatchObject({ status: 405 })
})
