import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { listen } from '@keelson/service-kit'
import { afterAll, expect, test } from 'vitest'
import { testIngress } from './ingress.fixture.ts'

const ingress = await testIngress()
const server = await listen(ingress.app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 100 })
const agent = createServer()
agent.listen(0, '127.0.0.1')
await once(agent, 'listening')
afterAll(async () => {
  agent.closeAllConnections()
  agent.close()
  await server[Symbol.asyncDispose]()
  await ingress[Symbol.asyncDispose]()
})

const client = await ingress.app.client()
const acp_url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`
const registration = { name: 'reader', description: '', acp_url, acp_type: 'async' as const }
const { signing_secret } = await client.registerAgent({ body: registration })
const { api_key } = await client.createAgentApiKey({ body: { name: 'ci', agent_name: 'reader' } })

/** A request whose body has no length yet. */
const openRequest = (key = api_key) => {
  const headers = { 'x-agent-api-key': key, 'transfer-encoding': 'chunked' }
  const outgoing = httpRequest(`${server.url}/agents/forward/name/reader/x`, { method: 'POST', headers })
  const answered = once(outgoing, 'response').then(([response]) => response as IncomingMessage)
  return { outgoing, answered }
}

test('what is sent with an agent key while it is made reaches the agent while it is sent', async () => {
  const { outgoing, answered } = openRequest()
  const arrived = once(agent, 'request')
  outgoing.write('one ')
  const [received, response] = await arrived
  expect(received.headers).toMatchObject({ 'x-keelson-streamed': 'true', 'transfer-encoding': 'chunked' })
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given } = received.headers
  const secret = Buffer.from(signing_secret.slice('whsec_'.length), 'base64')
  expect(id).toMatch(/^stream_/)
  expect(given).toBe(`v1,${createHmac('sha256', secret).update(`${id}.${at}.`).digest('base64')}`)
  const [first] = await once(received, 'data')
  expect(String(first)).toBe('one ')
  outgoing.end('two')
  expect(await text(received)).toBe('two')
  response.end('done')
  expect(await text(await answered)).toBe('done')
})

test('it is refused before a byte is read when the key opens nothing', async () => {
  const { outgoing, answered } = openRequest('not-a-key')
  outgoing.flushHeaders()
  expect((await answered).statusCode).toBe(401)
  outgoing.destroy()
})

test('it ends at the limit of bytes, and the agent never takes it for whole', async () => {
  const { outgoing, answered } = openRequest()
  const whatArrived = once(agent, 'request').then(([received]) =>
    text(received as IncomingMessage).catch((error: Error) => error.message),
  )
  outgoing.on('error', () => {})
  outgoing.end(Buffer.alloc(26_214_401))
  expect((await answered).statusCode).toBe(413)
  expect(await whatArrived).toBe('aborted')
})

test('an agent that answers early is heard', async () => {
  const { outgoing, answered } = openRequest()
  agent.once('request', (_received, response) => void response.writeHead(409).end('enough'))
  outgoing.write('one ')
  const answer = await answered
  expect([answer.statusCode, await text(answer)]).toEqual([409, 'enough'])
  outgoing.destroy()
})

test('a client that goes away while it sends takes the call to the agent with it', async () => {
  const { outgoing, answered } = openRequest()
  answered.catch(() => {})
  const arrived = once(agent, 'request')
  outgoing.write('one ')
  const [received] = (await arrived) as [IncomingMessage]
  outgoing.on('error', () => {}).destroy()
  await expect(text(received)).rejects.toThrow('aborted')
})
