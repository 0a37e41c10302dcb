import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { platformRoutes } from '@keelson/contracts/platform'
import type { Request } from '../harness/exchange.ts'
import type { OpenLoad } from '../harness/open-loop-process.ts'
import type { RunningServices } from '../harness/services.ts'

const SPANS_OF_A_TRACE = 5
const AT_A_TIME = 50

export type Mix = OpenLoad['mix']
export type ServiceMix = {
  /** Makes so many objects of each kind, which are asked for in turn. */
  layOut: (services: RunningServices, count: number) => Promise<void>
  mix: (key: string) => Mix
}

const TEXT = 'What a model said, and what it was told before. '.repeat(12)
const spanOf = (id: string, trace_id: string) => ({
  id,
  trace_id,
  name: 'chat gpt-4o',
  start_time: '2026-11-21T09:30:00.123456Z',
  input: { text: TEXT },
  data: { 'gen_ai.operation.name': 'chat' },
})
const checkpointOf = (thread_id: string) => ({
  thread_id,
  checkpoint_id: '1f0c6a51-9b1a-6d5e-8001-7c3f2e9d4b10',
  checkpoint: { v: 4, channel_versions: {}, channel_values: { answer: TEXT } },
})

const inBatches = async (count: number, work: (n: number) => Promise<unknown>) => {
  const numbers = Array.from({ length: count }, (_, n) => n)
  for (let from = 0; from < count; from += AT_A_TIME) await Promise.all(numbers.slice(from, from + AT_A_TIME).map(work))
}

const weighted = (headers: Record<string, string>, mix: readonly [number, Request][]): Mix =>
  mix.map(([weight, request]) => ({ weight, request: { ...request, headers } }))

const agent: ServiceMix = {
  layOut: async ({ url, keys: [key = ''] }, count) => {
    const keelson = createClient(agentRoutes, {
      baseUrl: url['agent-api'],
      headers: { authorization: `Bearer ${key}` },
    })
    await inBatches(count, async (n) => {
      const spans = Array.from({ length: SPANS_OF_A_TRACE }, (_, at) =>
        spanOf(at === 0 ? `span-${n}` : `span-${n}-${at}`, `trace-${n}`),
      )
      await keelson.createSpanBatch({ body: { spans } })
      await keelson.putCheckpoint({ body: checkpointOf(`thread-${n}`) })
    })
  },
  mix: (key) =>
    weighted({ authorization: `Bearer ${key}` }, [
      [6, { method: 'POST', path: '/spans', body: JSON.stringify({ ...spanOf('', 'new-{n}'), id: undefined }) }],
      [3, { method: 'PATCH', path: '/spans/span-{n}', body: JSON.stringify({ output: { text: TEXT } }) }],
      [4, { method: 'GET', path: '/spans/span-{n}' }],
      [2, { method: 'GET', path: '/traces/trace-{n}' }],
      [1, { method: 'GET', path: '/spans?trace_id=trace-{n}' }],
      [2, { method: 'POST', path: '/checkpoints/put', body: JSON.stringify(checkpointOf('thread-{n}')) }],
      [2, { method: 'POST', path: '/checkpoints/get-tuple', body: JSON.stringify({ thread_id: 'thread-{n}' }) }],
    ]),
}

const platform: ServiceMix = {
  layOut: async ({ url, keys: [key = ''] }, count) => {
    const keelson = createClient(platformRoutes, { baseUrl: url['platform-api'], headers: { 'x-api-key': key } })
    await inBatches(count, (n) =>
      keelson.createCredential({ body: { name: `credential-${n}`, type: 'key', payload: `secret-${n}` } }),
    )
  },
  mix: (key) =>
    weighted({ 'x-api-key': key }, [
      [8, { method: 'POST', path: '/v5/credentials/name/credential-{n}/secret' }],
      [6, { method: 'GET', path: '/v5/credentials/name/credential-{n}' }],
      [2, { method: 'GET', path: '/v5/credentials?limit=20' }],
      [2, { method: 'GET', path: '/v5/models?limit=20' }],
    ]),
}

export const MIXES = { 'agent-api': agent, 'platform-api': platform } as const
