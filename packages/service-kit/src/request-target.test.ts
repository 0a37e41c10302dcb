import { describe, expect, test } from 'vitest'
import { send, testService } from './test-service.ts'

const service = testService()

describe('paths and queries', () => {
  test.each([
    ['/notes/a%2Fb', 'a/b'],
    ['/notes/%41', 'A'],
    ['/notes/%2541', '%41'],
    ['/notes/a+b', 'a+b'],
    ['/notes/%E2%82%AC', '€'],
    ['/notes/latest%2F', 'latest/'],
  ])('%s is decoded once', async (path, id) => {
    expect((await send(service, path)).json).toMatchObject({ id })
  })

  test.each([
    ['/notes/%zz', 400, 'malformed_request'],
    ['/notes/%ff', 400, 'malformed_request'],
    ['/notes/%', 400, 'malformed_request'],
    ['/notes/%00', 404, 'not_found'],
    ['/notes/a%00', 404, 'not_found'],
    ['/notes/missing', 404, 'not_found'],
    ['/notes/', 404, 'unknown_path'],
    ['//notes', 404, 'unknown_path'],
    ['/Notes', 404, 'unknown_path'],
    ['/notes/1/2', 404, 'unknown_path'],
    ['/', 404, 'unknown_path'],
  ])('%s is answered %i %s', async (path, status, code) => {
    expect(await send(service, path)).toMatchObject({ status, json: { code } })
  })

  test('a fixed path wins over a parameter, whatever was mounted first', async () => {
    expect((await send(service, '/notes/latest')).text).toBe('"the latest"')
  })

  test('a missing object looks the same whatever its id', async () => {
    const [one, other] = await Promise.all([send(service, '/notes/missing1'), send(service, '/notes/missing2')])
    expect({ ...one.json, request_id: '' }).toEqual({ ...other.json, request_id: '' })
  })

  test.each([
    ['', { limit: 50, name: null }],
    ['?limit=7&name=a+b', { limit: 7, name: 'a b' }],
    ['?name=a%2Bb', { limit: 50, name: 'a+b' }],
    ['?limit[]=2&unknown=1&unknown=2&constructor=1&&', { limit: 50, name: null }],
    ['?name=%25', { limit: 50, name: '%' }],
    ['?name', { limit: 50, name: '' }],
  ])('the query %s is read', async (query, expected) => {
    expect((await send(service, `/notes${query}`)).json).toEqual(expected)
  })

  test.each([
    ['?limit=1&limit=2', 422],
    ['?name=a&name=b', 422],
    ['?limit=0x10', 422],
    ['?limit=%205', 422],
    ['?limit=', 422],
    ['?name=%00', 422],
    ['?name=%zz', 400],
    ['?name=%ff', 400],
    ['?%zz=1', 400],
  ])('the query %s is answered %i', async (query, status) => {
    expect((await send(service, `/notes${query}`)).status).toBe(status)
  })
})

describe('methods', () => {
  test('a wrong one is 405 with those that would do', async () => {
    const { status, headers, json } = await send(service, '/notes', { method: 'PATCH' })
    expect([status, headers.get('allow'), json['code']]).toEqual([
      405,
      'GET, HEAD, POST, OPTIONS',
      'method_not_allowed',
    ])
    expect((await send(service, '/notes/1', { method: 'PROPFIND' })).headers.get('allow')).toBe(
      'GET, HEAD, DELETE, OPTIONS',
    )
  })

  test('HEAD is GET without the body, OPTIONS tells the methods', async () => {
    const head = await send(service, '/notes', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/json'])
    const options = await send(service, '/notes', { method: 'OPTIONS', key: null })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS'])
    expect((await send(service, '/nowhere', { method: 'OPTIONS' })).status).toBe(404)
  })

  test('a method in a header is ignored', async () => {
    expect((await send(service, '/notes', { headers: { 'x-http-method-override': 'DELETE' } })).status).toBe(200)
  })
})
