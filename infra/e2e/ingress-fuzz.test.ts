import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { sign } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runningServices, type RunningServices } from './running-services.ts'

const seed = Number(process.env['FUZZ_SEED'] || 20_261_121)
const REPOSITORY = 'octocat/hello-world'

/** The agent answers with what it was sent. */
const agent = createServer((request, response) => void request.pipe(response))
let services: RunningServices
let secret: string
let api_key: string

beforeAll(async () => {
  agent.listen(0, '127.0.0.1')
  await once(agent, 'listening')
  services = await runningServices(['agent-api'])
  const { port } = agent.address() as AddressInfo
  const headers = { authorization: `Bearer ${services.key}` }
  const keelson = createClient(agentRoutes, { baseUrl: services.url['agent-api'], headers })
  const registered = { description: '', acp_url: `http://127.0.0.1:${port}`, acp_type: 'sync' as const }
  const { name: agent_name } = await keelson.registerAgent({ body: { name: 'echo', ...registered } })
  secret = (await keelson.createWebhookTrigger({ body: { agent_name, name: REPOSITORY, forward_path: 'hooks' } }))
    .secret
  api_key = (await keelson.createAgentApiKey({ body: { agent_name, name: 'any' } })).api_key
})

afterAll(async () => {
  await services?.[Symbol.asyncDispose]()
  agent.close()
})

const forward = async (headers: Record<string, string>, body: Buffer) => {
  const url = `${services.url['agent-api']}/agents/forward/name/echo/hooks`
  const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()).toString('hex') }
}

const accepted = (body: Buffer) => ({ status: 200, body: body.toString('hex') })

test('whoever has a key of the agent may send it any bytes, and they arrive as they are', async () => {
  const types = fc.constantFrom('application/json', 'application/octet-stream', 'text/plain', 'image/png')
  const bodies = fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes))
  const holds = fc.asyncProperty(types, bodies, async (type, body) => {
    expect(await forward({ 'x-agent-api-key': api_key, 'content-type': type }, body)).toEqual(accepted(body))
  })
  await fc.assert(holds, { seed, numRuns: 100 })
})

test('whatever event is rightly signed is accepted, and arrives as it was written', async () => {
  const events = fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue(), { noNullPrototype: true })
  const spaces = fc.constantFrom(0, 1, '\t')
  const holds = fc.asyncProperty(events, spaces, async (event, space) => {
    const text = JSON.stringify({ ...event, repository: { full_name: REPOSITORY } }, null, space)
    const headers = { 'x-hub-signature-256': await sign(secret, text), 'content-type': 'application/json' }
    const body = Buffer.from(text)
    expect(await forward(headers, body)).toEqual(accepted(body))
  })
  await fc.assert(holds, { seed, numRuns: 100 })
})
