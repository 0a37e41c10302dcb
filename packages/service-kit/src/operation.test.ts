import { describe, expect, test } from 'vitest'
import { KEY, send, testService } from './test-service.ts'

const service = testService()
const post = (body: string | Uint8Array<ArrayBuffer>, headers = {}) => send(service, '/notes', { body, headers })

describe('an operation', () => {
  test('answers 200 with what the handler returns', async () => {
    const { status, headers, text } = await post('{"text":"hi","data":{"n":1.0,"big":9007199254740993}}')
    expect(status).toBe(200)
    expect(text).toBe('{"id":"note_1","text":"hi","count":null,"data":{"n":1.0,"big":9007199254740993}}')
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
  })

  test('that answers nothing answers 204', async () => {
    const open = testService({
      authenticate: async () => ({
        account_id: 'a',
        identity_id: 'u',
        identity_type: 'user',
        key_id: 'k',
        scopes: null,
      }),
    })
    const { status, text } = await send(open, '/notes/1', { method: 'DELETE' })
    expect([status, text]).toEqual([204, ''])
  })

  test.each([
    ['malformed JSON', '{"text":', 400, 'malformed_json'],
    ['no body', '', 400, 'malformed_json'],
    ['null', 'null', 422, 'invalid_request'],
    ['a list', '[]', 422, 'invalid_request'],
    ['a string', '"x"', 422, 'invalid_request'],
    ['a name twice', '{"text":"a","text":"b"}', 400, 'malformed_json'],
    ['half of a surrogate pair', '{"text":"\\ud800"}', 422, 'invalid_request'],
    ['a NUL', '{"text":"\\u0000"}', 422, 'invalid_request'],
    ['a number as text', '{"text":"a","count":"5"}', 422, 'invalid_request'],
    ['a boolean as number', '{"text":"a","count":true}', 422, 'invalid_request'],
    ['an object as text', '{"text":{}}', 422, 'invalid_request'],
    ['a number too big', '{"text":"a","count":9007199254740993}', 422, 'invalid_request'],
    ['a list where a map belongs', '{"text":"a","data":[]}', 422, 'invalid_request'],
    ['a body over its limit', `{"text":"${'x'.repeat(5000)}"}`, 413, 'payload_too_large'],
    ['a conflict', '{"text":"taken"}', 409, 'span_exists'],
  ])('%s is refused', async (_name, body, status, code) => {
    const answer = await post(body)
    expect(answer).toMatchObject({ status, json: { status, code, request_id: answer.headers.get('x-request-id') } })
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  test.each([
    ['an unknown field', '{"text":"a","colour":"red"}'],
    ['explicit nulls', '{"text":"a","count":null,"data":null}'],
    ['names of object prototypes', '{"text":"a","constructor":1,"toString":2}'],
    ['1.0 for an integer', '{"text":"a","count":1.0}'],
  ])('%s is taken', async (_name, body) => {
    expect(await post(body)).toMatchObject({ status: 200 })
  })

  test('a refusal tells which field, and repeats neither values nor names that the caller made up', async () => {
    const { json, text } = await post('{"text":"","count":"hunter2","hunter3":1,"data":"hunter4"}')
    expect(json['errors']).toEqual([
      { path: 'text', message: expect.stringContaining('Too small') },
      { path: 'count', message: 'expected number, received string' },
      { path: 'data', message: 'expected an object' },
    ])
    expect(text).not.toMatch(/hunter/)
  })

  test.each([
    ['application/json', 200],
    ['APPLICATION/JSON; charset=utf-8', 200],
    ['application/json; charset="UTF-8"', 200],
    ['application/vnd.x+json', 200],
    ['application/json;', 200],
    ['application/json; charset=utf-16', 415],
    ['text/plain', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json, application/json', 415],
    ['application/jsonx', 415],
    ['json', 415],
    ['application/json; charset', 415],
  ])('a body of type %s is answered %i', async (type, status) => {
    expect((await post('{"text":"a"}', { 'content-type': type })).status).toBe(status)
  })

  test('a body without a type, or compressed, is refused with what would do', async () => {
    const bare = await service.fetch(
      new Request('http://x/notes', {
        method: 'POST',
        body: new Uint8Array([123]),
        headers: { authorization: `Bearer ${KEY}` },
      }),
    )
    expect([bare.status, bare.headers.get('accept')]).toEqual([415, 'application/json'])
    expect((await post('{"text":"a"}', { 'content-encoding': 'gzip' })).status).toBe(415)
  })

  test('a body is refused by its declared length before it is read', async () => {
    const { promise: never } = Promise.withResolvers<void>()
    const body = new ReadableStream({ pull: () => never })
    const headers = { 'content-type': 'application/json', 'content-length': '5000', authorization: `Bearer ${KEY}` }
    const response = await service.fetch(
      new Request('http://x/notes', { method: 'POST', body, headers, duplex: 'half' } as RequestInit),
    )
    expect(response.status).toBe(413)
  })
})

describe('who may', () => {
  test('without a good key the answer is 401 with a challenge, before anything else is looked at', async () => {
    for (const key of [null, 'wrong']) {
      const { status, headers, json } = await send(service, '/notes', { body: '{', key })
      expect([status, headers.get('www-authenticate'), json['code']]).toEqual([
        401,
        'Bearer realm="agent-api"',
        'unauthenticated',
      ])
    }
  })

  test('without the scope the answer is 403', async () => {
    expect(await send(service, '/notes/1', { method: 'DELETE' })).toMatchObject({
      status: 403,
      json: { code: 'missing_scope' },
    })
  })

  test('an operation without a scope asks for no key', async () => {
    expect((await send(service, '/notes/1/fail', { body: '{', key: null })).status).toBe(400)
  })
})
