import document from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { operationsOf } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { testIngress } from './ingress.fixture.ts'

const ingress = await testIngress()
afterAll(() => ingress[Symbol.asyncDispose]())
const { agent, app, scene } = ingress

const key = async ({ client, agent_name }: Scene, name: string) =>
  client.createAgentApiKey({ body: { agent_name, name, forward_path: 'hooks' } })
type Scene = Awaited<ReturnType<typeof scene>>

const [owner, stranger] = [await scene('owners-agent'), await scene('strangers-agent')]
const [own, theirs, deleted, rotated] = [
  await key(owner, 'own'),
  await key(stranger, 'theirs'),
  await key(owner, 'deleted'),
  await key(owner, 'rotated'),
]
await owner.client.deleteAgentApiKey({ params: { key_id: deleted.id } })
await owner.client.rotateAgentApiKey({ params: { key_id: rotated.id }, body: { grace_seconds: 0 } })

const withKey = (value: string) => ({ authorization: `AgentKey ${value}` })
const CALLERS: [caller: string, headers: Record<string, string>][] = [
  ['no key', {}],
  ['a malformed key', withKey('not-a-key')],
  ['an unknown key', withKey('f'.repeat(64))],
  ['a deleted key', withKey(deleted.api_key)],
  ['a key that was rotated away', withKey(rotated.api_key)],
  ["another account's key", withKey(theirs.api_key)],
  ["the owner's API key", owner.client.headers],
  ["an API key in the other service's header", { 'x-api-key': owner.client.token }],
  ['a signature of nothing', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }],
]
const PATHS = ['owners-agent/hooks', 'owners-agent/elsewhere', 'strangers-agent/none', 'no-such-agent/hooks']
const OPERATIONS = [
  ['forwardGet', 'GET'],
  ['forwardPost', 'POST'],
] as const

const ask = async (method: string, path: string, headers: Record<string, string>) => {
  const body = method === 'POST' ? { body: '{}' } : {}
  const all = { 'x-request-id': 'isolation', ...headers }
  const url = `http://x/agents/forward/name/${path}`
  const response = await app.service.fetch(new Request(url, { method, headers: all, ...body }))
  return { status: response.status, text: await response.text(), headers: [...response.headers] }
}

test('the ingress and the matrix of API keys are all of the document', () => {
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods) as { operationId: string }[])
  const known = [...operationsOf(document), ...OPERATIONS.map(([operationId]) => operationId)]
  expect(all.map(({ operationId }) => operationId).toSorted()).toEqual(known.toSorted())
})

test.each(OPERATIONS)('%s answers every wrong caller alike, whichever agent they ask for', async (_, method) => {
  const refused = await ask(method, 'no-such-agent/hooks', withKey('f'.repeat(64)))
  expect(refused.status).toBe(401)
  const received = agent.received.length
  for (const [caller, headers] of CALLERS) {
    for (const path of PATHS)
      expect({ caller, path, ...(await ask(method, path, headers)) }).toEqual({ caller, path, ...refused })
  }
  expect(agent.received.length).toBe(received)
  expect(await ask(method, 'owners-agent/hooks', withKey(own.api_key))).toMatchObject({ status: 200, text: 'ok' })
  expect(await ask(method, 'owners-agent/elsewhere', withKey(own.api_key))).toEqual(refused)
})

test.each(OPERATIONS)('%s refuses two proofs at once', async (_, method) => {
  const headers = { ...withKey(own.api_key), 'x-agent-api-key': own.api_key }
  expect(await ask(method, 'owners-agent/hooks', headers)).toMatchObject({ status: 400 })
})
