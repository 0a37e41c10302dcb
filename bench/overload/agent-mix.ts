import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { inBatches, weighted, type ServiceMix } from './mix.ts'

const SPANS_OF_A_TRACE = 100
const SPANS_OF_A_BATCH = 20
const FIRST = '0'
const TEXT = 'What a model said, and what it was told before. '.repeat(12)

const spanOf = (trace_id: string) => ({
  trace_id,
  name: 'chat gpt-4o',
  start_time: '2026-11-21T09:30:00.123456Z',
  end_time: '2026-11-21T09:30:02.654321Z',
  input: { messages: [{ role: 'user', content: TEXT }] },
  output: { content: 'A short answer.' },
  data: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 1250 },
})
const traceOf = (n: number) => ({
  spans: Array.from({ length: SPANS_OF_A_TRACE }, (_, at) => ({ id: `span-${n}-${at}`, ...spanOf(`trace-${n}`) })),
})
const batch = { spans: Array.from({ length: SPANS_OF_A_BATCH }, () => spanOf('trace-{next}')) }

/** A conversation of twenty messages, and the small channels beside it. */
const CHANNELS = {
  messages: Array.from({ length: 20 }, (_, at) => ({ type: 'ai', id: `message-${at}`, content: TEXT })),
  step: 12,
  user: 'u-1',
  plan: ['search', 'answer'],
}
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

const checkpointOf = (thread_id: string, checkpoint_id: string) => ({
  thread_id,
  checkpoint_id,
  checkpoint: {
    v: 4,
    channel_versions: Object.fromEntries(Object.keys(CHANNELS).map((channel) => [channel, checkpoint_id])),
  },
  metadata: { source: 'loop', step: 12, user_id: 'u-1' },
  blobs: Object.entries(CHANNELS).map(([channel, value]) => ({
    channel,
    version: checkpoint_id,
    type: 'json',
    blob: base64(value),
  })),
})
const writesOf = (thread_id: string, task_id: string) => ({
  thread_id,
  checkpoint_id: FIRST,
  writes: [
    { task_id, idx: 0, channel: 'messages', type: 'json', blob: base64(TEXT) },
    { task_id, idx: 1, channel: 'step', type: 'json', blob: base64(13) },
  ],
})

/**
 * Agents at work: each step of a graph reads its thread, puts a checkpoint and what its tasks wrote; an SDK sends spans in
 * batches; and people and evaluations read whole traces.
 */
export const agentMix: ServiceMix = {
  layOut: async ({ url, keys: [key = ''] }, count) => {
    const headers = { authorization: `Bearer ${key}` }
    const keelson = createClient(agentRoutes, { baseUrl: url['agent-api'], headers })
    await inBatches(count, async (n) => {
      await keelson.createSpanBatch({ body: traceOf(n) })
      await keelson.putCheckpoint({ body: checkpointOf(`thread-${n}`, FIRST) })
    })
  },
  mix: (key) => {
    const get = (path: string) => ({ method: 'GET', path })
    const post = (path: string, body: object) => ({ method: 'POST', path, body: JSON.stringify(body) })
    return weighted({ authorization: `Bearer ${key}` }, [
      [2, post('/checkpoints/put', checkpointOf('thread-{n}', '{next}'))],
      [2, post('/checkpoints/put-writes', writesOf('thread-{n}', '{next}'))],
      [4, post('/checkpoints/get-tuple', { thread_id: 'thread-{n}' })],
      [1, post('/checkpoints/list', { thread_id: 'thread-{n}', limit: 10 })],
      [2, post('/spans/batch', batch)],
      [1, get('/spans/span-{n}-0')],
      [4, get('/spans?trace_id=trace-{n}&limit=100')],
      [4, get('/traces/trace-{n}?include=payload')],
    ])
  },
}
