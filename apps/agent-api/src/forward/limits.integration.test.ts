import { gzipSync } from 'node:zlib'
import { listen } from '@keelson/service-kit'
import { eventually } from '@keelson/testing'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { agentNetwork } from '../agents/agent-network.ts'
import { testIngress } from './ingress.fixture.ts'

// Made before anything listens: it takes so long that a service under way would think itself overloaded.
const bomb = gzipSync(Buffer.alloc(50_000_000))

const network = agentNetwork({ allowPrivate: true, firstByteTimeoutMs: 300, idleTimeoutMs: 300, connectTimeoutMs: 300 })
const ingress = await testIngress({ network, forwardLimits: { totalMs: 1_500, maxBytes: 1_000_000 } })
const { app, agent, scene } = ingress
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 100 })
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await ingress[Symbol.asyncDispose]()
})
afterEach(() => {
  agent.answer = (_request, response) => void response.end('ok')
})

const { client, agent_name } = await scene()
const { api_key } = await client.createAgentApiKey({ body: { name: 'ci', agent_name } })
const call = (path = 'api', options: RequestInit = {}) =>
  fetch(`${server.url}/agents/forward/name/${agent_name}/${path}`, {
    headers: { 'x-agent-api-key': api_key },
    ...options,
  })
/** What fetch says of an answer that did not end, in its own words or as an abort. */
const BROKEN = /terminated|aborted/
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code]

test('a silent agent is 504', async () => {
  agent.answer = () => {}
  expect(await codeOf(await call())).toEqual([504, 'agent_timeout'])
})

test('an agent that is not there, hangs up, or redirects is 502', async () => {
  const body = { name: 'gone', description: '', acp_url: 'http://127.0.0.1:1', acp_type: 'async' as const }
  await client.registerAgent({ body })
  const gone = await client.createAgentApiKey({ body: { name: 'ci', agent_name: 'gone' } })
  const answer = await fetch(`${server.url}/agents/forward/name/gone/x`, {
    headers: { 'x-agent-api-key': gone.api_key },
  })
  expect(await codeOf(answer)).toEqual([502, 'agent_unreachable'])
  agent.answer = (request) => void request.socket.destroy()
  expect(await codeOf(await call())).toEqual([502, 'agent_unreachable'])
  const before = agent.received.length
  agent.answer = (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).write('unfinished')
  expect(await codeOf(await call())).toEqual([502, 'agent_unreachable'])
  expect(agent.received.length - before).toBe(1)
  agent.answer = (_request, response) => void response.writeHead(200, { 'content-length': 1_000_001 }).write('large')
  expect(await codeOf(await call())).toEqual([502, 'agent_unreachable'])
})

test('an answer that breaks off is an error, never a shorter answer, and nothing is printed', async () => {
  const prints = [vi.spyOn(console, 'error'), vi.spyOn(console, 'info')]
  agent.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('x')
    response.socket!.destroy()
  }
  expect(await codeOf(await call())).toEqual([502, 'agent_unreachable'])
  agent.answer = (_request, response) => {
    response.writeHead(200).write('x')
    setImmediate(() => response.socket!.destroy())
  }
  await expect(call().then((answer) => answer.text())).rejects.toThrow(BROKEN)
  for (const print of prints) {
    expect(print).not.toHaveBeenCalled()
    print.mockRestore()
  }
})

test('a slow drip ends at the total deadline', async () => {
  agent.answer = (_request, response) => {
    const drip = setInterval(() => response.write('.'), 100)
    response.on('close', () => clearInterval(drip))
  }
  const startedAt = performance.now()
  await expect(call().then((answer) => answer.text())).rejects.toThrow(BROKEN)
  expect(performance.now() - startedAt).toBeLessThan(4_000)
})

test('an endless answer ends at its limit, and the agent is not read faster than the client reads', async () => {
  const piece = Buffer.alloc(65_536)
  let sent = 0
  agent.answer = (_request, response) => {
    const write = () => {
      while (!response.destroyed && response.write(piece)) sent += piece.length
    }
    response.on('drain', write)
    write()
  }
  const endless = await call()
  await expect(endless.arrayBuffer()).rejects.toThrow(BROKEN)
  sent = 0
  const unread = await call()
  const reader = unread.body!.getReader()
  await reader.read()
  // Only what sockets hold between the two is on its way: the limit of a megabyte is never reached.
  expect(sent).toBeLessThan(32_000_000)
  await reader.cancel()
})

test('a gzip bomb goes through as the few bytes it is, never unpacked here', async () => {
  agent.answer = (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  const request = new Request(`http://x/agents/forward/name/${agent_name}/api`, {
    headers: { 'x-agent-api-key': api_key },
  })
  const answer = await app.service.fetch(request)
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  expect((await answer.arrayBuffer()).byteLength).toBe(bomb.length)
})

test('a compressed request is refused, and so is one that is too large', async () => {
  const headers = { 'x-agent-api-key': api_key }
  const packed = { method: 'POST', headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync('x') }
  expect((await call('api', packed)).status).toBe(400)
  const large = await call('api', { method: 'POST', headers, body: Buffer.alloc(26_214_401) }).catch(() => null)
  expect(large === null || large.status === 413).toBe(true)
})

test('cookies, redirects and headers of the connection do not come back; pages cannot run here', async () => {
  agent.answer = (_request, response) => {
    response.writeHead(418, {
      'content-type': 'text/html',
      'set-cookie': ['a=1', 'b=2'],
      location: 'http://evil.test',
      'access-control-allow-origin': '*',
      server: 'agent',
      'retry-after': '7',
    })
    response.end('<script>')
  }
  const answer = await call()
  expect([answer.status, await answer.text()]).toEqual([418, '<script>'])
  const { 'x-request-id': _id, date: _date, ...headers } = Object.fromEntries(answer.headers)
  expect(headers).toMatchObject({
    'content-type': 'text/html',
    'retry-after': '7',
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  })
  for (const name of ['set-cookie', 'location', 'server', 'access-control-allow-origin'])
    expect(headers).not.toHaveProperty(name)
})

test('what an agent streams arrives piece by piece', async () => {
  const { promise: read, resolve: next } = Promise.withResolvers<void>()
  agent.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    void read.then(() => response.end('data: 2\n\n'))
  }
  const answer = await call()
  const reader = answer.body!.getReader()
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 1\n\n')
  next()
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 2\n\n')
})

test('a client that goes away takes the call to the agent with it', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  agent.answer = (_request, response) => {
    response.on('close', resolve)
    response.writeHead(200).write('x')
  }
  const leaving = new AbortController()
  const answer = await call('api', { headers: { 'x-agent-api-key': api_key }, signal: leaving.signal })
  leaving.abort()
  await closed
  await expect(answer.text()).rejects.toThrow(BROKEN)
})

test('a name that resolves to another address at connect is not called', async () => {
  let address = '127.0.0.1'
  await using rebinding = agentNetwork({ allowPrivate: true, resolve: async () => [{ address, family: 4 }] })
  const other = await testIngress({ network: rebinding })
  const owner = await other.app.client()
  const acp_url = other.agent.url.replace('127.0.0.1', 'rebound.test')
  await owner.registerAgent({ body: { name: 'rebound', description: '', acp_url, acp_type: 'async' } })
  const key = await owner.createAgentApiKey({ body: { name: 'ci', agent_name: 'rebound' } })
  address = '169.254.169.254'
  const request = new Request('http://x/agents/forward/name/rebound/x', { headers: { 'x-agent-api-key': key.api_key } })
  expect((await other.app.service.fetch(request)).status).toBe(502)
  expect(other.agent.received).toHaveLength(0)
  await eventually(() => other[Symbol.asyncDispose]())
})

test('an agent that moved to a refused address is not called there', async () => {
  await app.db.sql`update agent.agents set acp_url = 'http://169.254.169.254' where name = ${agent_name}`
  app.keyring.forget(agent_name)
  expect(await codeOf(await call())).toEqual([502, 'agent_unreachable'])
  await app.db.sql`update agent.agents set acp_url = ${agent.url} where name = ${agent_name}`
  app.keyring.forget(agent_name)
})
