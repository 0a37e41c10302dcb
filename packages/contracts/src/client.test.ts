import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { agentRoutes, checkpoints } from './agent/index.ts'
import { ContractError, createClient, ProblemError } from './client.ts'
import { ERRORS, type ErrorCode } from './errors.ts'
import { JsonText } from './json-text.ts'
import { models, platformRoutes } from './platform/index.ts'

type Seen = { method: string; url: string; headers: Headers; text: string }

/** A service of one answer, in memory, that remembers what it was asked. */
const answering = (
  status: number,
  body: unknown,
  mediaType = status < 400 ? 'application/json' : 'application/problem+json',
) => {
  const seen: Seen[] = []
  const fetch = async (request: Request): Promise<Response> => {
    seen.push({ method: request.method, url: request.url, headers: request.headers, text: await request.text() })
    const text = body === undefined ? null : JSON.stringify(body)
    return new Response(text, { status, headers: { 'content-type': mediaType } })
  }
  return { seen, fetch }
}

const problem = (code: ErrorCode) => ({
  type: `https://keelson.dev/problems/${code}`,
  title: ERRORS[code].title,
  status: ERRORS[code].status,
  detail: 'Something',
  code,
  request_id: 'req-1',
})

const span = {
  id: 's1',
  name: 'step',
  start_time: '2026-11-21T09:30:00Z',
  trace_id: 't1',
  data: null,
  end_time: null,
  input: { a: 1 },
  output: [{ b: 2 }],
  parent_id: null,
  task_id: null,
}

describe('the typed client', () => {
  test('encodes params and query, sends headers, and answers the parsed body', async () => {
    const { seen, fetch } = answering(200, [span])
    const client = createClient(agentRoutes, {
      baseUrl: 'http://host/prefix/',
      fetch,
      headers: { authorization: 'Bearer k' },
    })
    const found = await client.listSpans({ query: { trace_id: 'a/b&c', limit: 7 }, headers: { 'x-request-id': 'r' } })
    expect(found[0]?.output).toEqual([{ b: 2 }])
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: 'http://host/prefix/spans?trace_id=a%2Fb%26c&limit=7',
      text: '',
    })
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer k')
    expect(seen[0]?.headers.get('x-request-id')).toBe('r')
    expect(seen[0]?.headers.has('content-type')).toBe(false)

    const one = answering(200, span)
    await createClient(agentRoutes, { fetch: one.fetch }).getSpan({ params: { span_id: 'a/b c%?' } })
    expect(one.seen[0]?.url).toBe('http://keelson.local/spans/a%2Fb%20c%25%3F')
  })

  test('sends a JsonText as its own text', async () => {
    const { seen, fetch } = answering(200, span)
    const input = new JsonText('{"n": 1.0, "big": 12345678901234567890}')
    await createClient(agentRoutes, { fetch }).createSpan({
      body: { name: 'step', start_time: '2026-11-21', trace_id: 't1', input, parent_id: null },
    })
    expect(seen[0]?.text).toBe(
      '{"name":"step","start_time":"2026-11-21","trace_id":"t1","input":{"n": 1.0, "big": 12345678901234567890},"parent_id":null}',
    )
    expect(seen[0]?.headers.get('content-type')).toBe('application/json')
  })

  test('works over HTTP', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      request
        .setEncoding('utf8')
        .on('data', (text) => response.end(JSON.stringify({ ...span, input: JSON.parse(text).input })))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const body = { name: 'step', start_time: '2026-11-21', trace_id: 't1', input: { a: ['é'] } }
    const created = await createClient(agentRoutes, { baseUrl }).createSpan({ body })
    expect(created.input).toEqual({ a: ['é'] })
    server.close()
  })

  test('takes null for a nullable body and undefined for 204', async () => {
    const none = createClient(agentRoutes, { fetch: answering(200, null).fetch })
    expect(await none.getCheckpointTuple({ body: { thread_id: 't' } })).toBeNull()
    const done = createClient(agentRoutes, { fetch: answering(204, undefined).fetch })
    expect(await done.deleteThread({ body: { thread_id: 't' } })).toBeUndefined()
  })

  test('needs no request where every part is optional', async () => {
    const { fetch } = answering(200, { items: [], has_more: false, total: 0, limit: 100, object: 'list' })
    expect((await createClient(platformRoutes, { fetch }).listModels()).items).toEqual([])
  })

  test('throws a declared problem with its status, code and headers', async () => {
    const { fetch } = answering(404, problem('not_found'))
    const asked = createClient(agentRoutes, { fetch }).getSpan({ params: { span_id: 'x' } })
    await expect(asked).rejects.toThrow(ProblemError)
    await expect(asked).rejects.toMatchObject({ status: 404, problem: { code: 'not_found', request_id: 'req-1' } })
  })

  test.each<[string, number, unknown, string?]>([
    ['a field too many', 200, { ...span, extra: 1 }],
    ['a field too few', 200, { ...span, task_id: undefined }],
    ['a value of the wrong type', 200, { ...span, start_time: '2026-11-21T09:30:00+00:00' }],
    ['an undeclared success', 201, span],
    ['no body where there is one', 204, undefined],
    ['another media type', 200, span, 'text/html'],
    ['a problem as plain JSON', 404, problem('not_found'), 'application/json'],
    ['a problem of another operation', 409, problem('model_exists')],
    ['an undeclared status', 405, problem('method_not_allowed')],
    ['a problem under another status', 409, problem('not_found')],
    ['no problem at all', 500, 'oops'],
  ])('refuses %s', async (_, status, body, mediaType) => {
    const { fetch } = answering(status, body, mediaType)
    const client = createClient(agentRoutes, { fetch })
    await expect(client.getSpan({ params: { span_id: 's1' } })).rejects.toThrow(ContractError)
  })

  test('refuses a body where 204 is declared', async () => {
    const client = createClient(agentRoutes, { fetch: answering(200, {}).fetch })
    await expect(client.deleteThread({ body: { thread_id: 't' } })).rejects.toThrow(ContractError)
  })

  test('gives the raw answer, whatever it is, to a request without checks', async () => {
    const { seen, fetch } = answering(400, problem('malformed_json'))
    const client = createClient(platformRoutes, { fetch })
    const { status, headers, text } = await client.raw(models.createModel, {
      text: '{"name":',
      headers: { 'content-type': 'text/plain' },
    })
    expect([status, headers.get('content-type'), JSON.parse(text).code]).toEqual([
      400,
      'application/problem+json',
      'malformed_json',
    ])
    expect(seen[0]).toMatchObject({ method: 'POST', text: '{"name":' })
    expect(seen[0]?.headers.get('content-type')).toBe('text/plain')
    expect((await client.raw(checkpoints.listCheckpoints, { body: { anything: [1] } })).status).toBe(400)
    expect(seen[1]?.text).toBe('{"anything":[1]}')
  })
})
