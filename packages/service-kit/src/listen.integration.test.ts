import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, type Listening } from './listen.ts'
import { KEY, notes, testService } from './test-service.ts'
import { exchange, openSocket, parseAnswer, readAll } from './test-socket.ts'

const AUTH = `Authorization: Bearer ${KEY}\r\n`
const LAST = 'Host: a\r\nConnection: close\r\n'
const post = (extra: string, body: string) =>
  `POST /notes HTTP/1.1\r\n${LAST}${AUTH}Content-Type: application/json\r\n${extra}\r\n${body}`

const LARGE = 'x'.repeat(16_000_000)
const service = testService()
service.raw('get', '/patient', async (c) => {
  await once(c.req.raw.signal, 'abort')
  throw new Error('aborted')
})
service.handle(notes.slowNote, () => LARGE)
let server: Listening

beforeAll(async () => {
  const timeouts = { headersTimeoutMs: 500, requestTimeoutMs: 1000, checkIntervalMs: 50 }
  server = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000, timeouts })
})
afterAll(async () => await server[Symbol.asyncDispose]())

describe('over HTTP', () => {
  test('requests are answered as in memory', async () => {
    const response = await fetch(`${server.url}/notes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'x-request-id': 'r-1' },
      body: '{"text":"hi","data":{"n":1.0}}',
    })
    expect([response.status, response.headers.get('x-request-id'), await response.text()]).toEqual([
      200,
      'r-1',
      '{"id":"note_1","text":"hi","count":null,"data":{"n":1.0}}',
    ])
    expect(response.headers.get('content-length')).toBe('57')
  })

  test.each([
    ['garbage', 'hello\r\n\r\n', 400],
    ['an unknown method', `FOO / HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['a method in lower case', `get / HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['TRACE', `TRACE /notes HTTP/1.1\r\n${LAST}\r\n`, 405],
    ['CONNECT', `CONNECT a:80 HTTP/1.1\r\n${LAST}\r\n`, 405],
    ['no Host', 'GET /notes HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a bad Host', 'GET /notes HTTP/1.1\r\nHost: a/b@c\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', `GET /notes HTTP/1.1\r\nHost: b\r\n${LAST}\r\n`, 400],
    ['a length and chunks', post('Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}'), 400],
    ['a negative length', post('Content-Length: -1\r\n', ''), 400],
    ['a folded header', `GET / HTTP/1.1\r\n${LAST}X-A: b\r\n c\r\n\r\n`, 400],
    ['a control character in a header', `GET / HTTP/1.1\r\n${LAST}X-A: b\u0001c\r\n\r\n`, 400],
    ['20 kB of headers', `GET / HTTP/1.1\r\n${LAST}X-A: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
    ['a path of 20 kB', `GET /${'b'.repeat(20_000)} HTTP/1.1\r\n${LAST}\r\n`, 431],
    ['1,000 headers', `GET /notes HTTP/1.1\r\n${LAST}${'A: b\r\n'.repeat(1000)}\r\n`, 431],
    ['two keys', `GET /notes HTTP/1.1\r\n${LAST}${AUTH}${AUTH}\r\n`, 401],
    ['two types', post('Content-Type: application/json\r\nContent-Length: 2\r\n', '{}'), 400],
    ['an unknown expectation', post('Expect: nope\r\nContent-Length: 2\r\n', '{}'), 417],
    ['a body too large by its length', post('Content-Length: 5000\r\n', ''), 413],
    [
      'a body too large by its chunks',
      post('Transfer-Encoding: chunked\r\n', `1388\r\n${'x'.repeat(5000)}\r\n0\r\n\r\n`),
      413,
    ],
    ['a dot segment', `GET /x/../notes HTTP/1.1\r\n${LAST}${AUTH}\r\n`, 404],
    ['a bare percent sign', `GET /notes/% HTTP/1.1\r\n${LAST}${AUTH}\r\n`, 400],
    ['silence in the headers', 'GET /notes HTTP/1.1\r\nHost:', 408],
    ['silence in the body', post('Content-Length: 10\r\n', '{'), 408],
  ])('%s is answered with a problem', async (_name, bytes, status) => {
    const answer = await exchange(server.url, bytes)
    expect(answer).toMatchObject({ status, json: { status, request_id: answer.headers['x-request-id'] } })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
  })

  test.each([
    ['a target in absolute form', `GET http://evil.test/notes HTTP/1.1\r\n${LAST}${AUTH}\r\n`],
    ['HTTP/1.0', `GET /notes HTTP/1.0\r\n${AUTH}\r\n`],
    ['an upgrade', `GET /notes HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: h2c\r\n${AUTH}\r\n`],
    ['a body on GET', `GET /notes HTTP/1.1\r\n${LAST}${AUTH}Content-Length: 2\r\n\r\n{}`],
    ['ranges and preferences', `GET /notes HTTP/1.1\r\n${LAST}${AUTH}Range: bytes=0-1\r\nAccept: image/png\r\n\r\n`],
  ])('%s is answered as usual', async (_name, bytes) => {
    expect(await exchange(server.url, bytes)).toMatchObject({ status: 200, json: { limit: 50 } })
  })

  test.each(['close', 'keep-alive'])('who is refused while sending can finish and has its answer: %s', async (wish) => {
    const socket = await openSocket(server.url)
    const received = readAll(socket)
    const head = `POST /notes HTTP/1.1\r\nHost: a\r\nConnection: ${wish}\r\n${AUTH}Content-Type: application/json\r\n`
    socket.write(`${head}Content-Length: 5000\r\n\r\n${'x'.repeat(1000)}`)
    await once(socket, 'data')
    for (let part = 1; part < 5; part += 1) {
      // Long enough for a connection that is closed already to be noticed.
      await delay(20)
      expect(socket.readableEnded).toBe(false)
      socket.write('x'.repeat(1000))
    }
    if (wish === 'keep-alive') socket.write(`GET /notes HTTP/1.1\r\n${LAST}${AUTH}\r\n`)
    const statuses = [...(await received).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    expect(statuses).toEqual(wish === 'close' ? ['413'] : ['413', '200'])
    expect(service.load.inFlight).toBe(0)
  })

  test('a body is asked for only when it will be read', async () => {
    const expecting = (key: string, length: number) =>
      `POST /notes HTTP/1.1\r\n${LAST}${key}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
    expect((await exchange(server.url, expecting('', 12))).status).toBe(401)
    expect((await exchange(server.url, expecting(AUTH, 5000))).status).toBe(413)
    const socket = await openSocket(server.url)
    socket.write(expecting(AUTH, 12))
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('{"text":"a"}')
    expect(parseAnswer(await readAll(socket)).status).toBe(200)
  })

  test('a client that goes away in the middle of its body costs nothing more', async () => {
    const before = service.lines.length
    const socket = await openSocket(server.url)
    socket.write(post('Content-Length: 10\r\n', '{'))
    await eventually(() => expect(service.load.inFlight).toBe(1))
    socket.destroy()
    await eventually(() => expect(service.load.inFlight).toBe(0))
    await eventually(() => expect(service.lines[before]).toMatchObject({ level: 30, error_code: 'malformed_request' }))
  })

  test('who takes the answer gets it; who does not is cut off', async () => {
    const ask = async () => {
      const socket = await openSocket(server.url)
      socket.pause().write(`GET /slow-note HTTP/1.1\r\n${LAST}${AUTH}\r\n`)
      return socket
    }
    const lazy = [await ask(), await ask()]
    await eventually(() => expect(service.load.inFlight).toBe(2))
    await eventually(() => expect(service.load.inFlight).toBe(0))
    const taken = await ask()
    expect((await readAll(taken.resume())).length).toBeGreaterThan(LARGE.length)
    for (const socket of lazy) socket.destroy()
  })

  test('work given up because its client went away is no failure', async () => {
    const before = service.lines.length
    const socket = await openSocket(server.url)
    socket.write('GET /patient HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually(() => expect(service.load.inFlight).toBe(1))
    socket.destroy()
    await eventually(() => expect(service.lines[before]).toMatchObject({ level: 30, route: '/patient', status: 400 }))
  })

  test('pipelined requests are answered in order', async () => {
    const one = `GET /notes?limit=7 HTTP/1.1\r\nHost: a\r\n${AUTH}\r\n`
    const socket = await openSocket(server.url)
    socket.write(one.repeat(200) + one.replace('limit=7', 'limit=8').replace('Host: a', 'Host: a\r\nConnection: close'))
    const answers = (await readAll(socket)).match(/"limit":\d/g)
    expect(answers).toEqual([...Array.from({ length: 200 }, () => '"limit":7'), '"limit":8'])
  })

  test('metrics and health are on a port of their own', async () => {
    expect(await (await fetch(`${server.metricsUrl}/metrics`)).text()).toContain('http_request_duration_seconds_count')
    expect((await fetch(`${server.metricsUrl}/healthz`)).status).toBe(200)
    expect((await fetch(`${server.metricsUrl}/notes`)).status).toBe(404)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  })
})
