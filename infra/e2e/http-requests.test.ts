import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import agentDocument from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import platformDocument from '@keelson/contracts/openapi/platform-api.json' with { type: 'json' }
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readHttpFile, runHttpFile } from '@keelson/testing'
import { ROOT } from './run-start.ts'
import { runningServices, type RunningServices } from './running-services.ts'

const DOCUMENTS = { 'platform-api': platformDocument, 'agent-api': agentDocument }
const NAMES = ['platform-api', 'agent-api'] as const

/** The agent that the examples register. */
const agent = createServer((request, response) => request.resume().on('end', () => response.end('{"ok":true}')))
let services: RunningServices

beforeAll(async () => {
  agent.listen(0, '127.0.0.1')
  await once(agent, 'listening')
  services = await runningServices(NAMES)
})
afterAll(async () => {
  agent.close()
  await services?.[Symbol.asyncDispose]()
})

test.each(NAMES)('%s: every operation can be tried as its file says, and works', async (name) => {
  const requests = readHttpFile(await readFile(join(ROOT, `packages/contracts/requests/${name}.http`), 'utf8'))
  const operations = Object.values(DOCUMENTS[name].paths).flatMap((item) =>
    Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
  )
  expect(requests.map((request) => request.name).toSorted()).toEqual(operations.toSorted())
  const { port } = agent.address() as AddressInfo
  const variables = { baseUrl: services.url[name], key: services.key, agent: `http://127.0.0.1:${port}` }
  const outcomes = await runHttpFile(requests, variables)
  expect(outcomes.filter(({ status }) => status >= 300)).toEqual([])
})
