import { setTimeout as sleep } from 'node:timers/promises'
import { textOf, type Caller, type Fixtures, type NamedRequest } from './fixture.ts'

const NOWHERE = '019aa5e0-7c1d-7b62-9a55-3f0e8a1c4d27'
const START = '2026-01-01T00:00:00Z'

const span = async (call: Caller, label: string) => {
  const body = { id: `span-${label}`, trace_id: `trace-${label}`, name: 'work', start_time: START }
  await call('createSpan', { body })
  return { id: body.id, trace_id: body.trace_id }
}

/** Two checkpoints of a thread, the value of a channel before the second. */
const checkpoint = async (call: Caller, label: string) => {
  const thread_id = `thread-${label}`
  const put = (checkpoint_id: string, more: object) => {
    const state = { v: 4, channel_versions: { messages: '1' } }
    const metadata = { run_id: `run-${label}` }
    return call('putCheckpoint', { body: { thread_id, checkpoint_id, checkpoint: state, metadata, ...more } })
  }
  await put('checkpoint-1', { blobs: [{ channel: 'messages', version: '1', type: 'json', blob: 'e30=' }] })
  await put('checkpoint-2', { parent_checkpoint_id: 'checkpoint-1' })
  return thread_id
}

const agent = async (call: Caller, label: string) => {
  const name = `agent-${label}`
  const acp_url = 'http://127.0.0.1:9'
  const made = await call('registerAgent', { body: { name, description: label, acp_url, acp_type: 'sync' } })
  return { id: textOf(made, 'id'), name }
}

const agentKey = async (call: Caller, label: string) => {
  const { id: agent_id, name: agent_name } = await agent(call, label)
  const name = `key-${label}`
  const made = await call('createAgentApiKey', { body: { agent_id, name } })
  return { id: textOf(made, 'id'), name, agent_id, agent_name }
}

const bySpan = (body?: object) => ({
  own: async (call: Caller, label: string) => {
    const { id, trace_id } = await span(call, label)
    return { params: { span_id: id }, ...(body && { body }), ids: [id, trace_id] }
  },
  missing: (label: string) => {
    const id = `none-${label}`
    return { params: { span_id: id }, ...(body && { body }), ids: [id] }
  },
})

const WRITE = { task_id: 'task', idx: 0, channel: 'messages', type: 'json', blob: 'e30=', task_path: '' }

type Body = (thread_id: string, label: string) => object

const byThread = (bodyOf: Body) => ({
  own: async (call: Caller, label: string): Promise<NamedRequest> => {
    const thread_id = await checkpoint(call, label)
    return { body: bodyOf(thread_id, label), ids: [thread_id, `run-${label}`] }
  },
  missing: (label: string): NamedRequest => {
    const thread_id = `nothread-${label}`
    return { body: bodyOf(thread_id, `no${label}`), ids: [thread_id, `run-no${label}`] }
  },
})

/** Writes move a thread's last change once a second: only later ones could move that of somebody else. */
const afterTouch = ({ own, missing }: ReturnType<typeof byThread>) => ({
  own: async (call: Caller, label: string) => {
    const request = await own(call, label)
    await sleep(1_100)
    return request
  },
  missing,
})

const byAgent = (request: (agent: { id: string; name: string }) => Omit<NamedRequest, 'ids'>) => ({
  own: async (call: Caller, label: string) => {
    const made = await agent(call, label)
    return { ...request(made), ids: [made.id, made.name] }
  },
  missing: (label: string) => {
    const none = { id: NOWHERE, name: `noagent-${label}` }
    return { ...request(none), ids: [none.id, none.name] }
  },
})

type Key = Awaited<ReturnType<typeof agentKey>>

const byKey = (request: (key: Key) => Omit<NamedRequest, 'ids'>) => ({
  own: async (call: Caller, label: string) => {
    const made = await agentKey(call, label)
    return { ...request(made), ids: Object.values(made) }
  },
  missing: (label: string) => {
    const none = { id: NOWHERE, name: `nokey-${label}`, agent_id: NOWHERE, agent_name: `noagent-${label}` }
    return { ...request(none), ids: Object.values(none) }
  },
})

/** An event that came in through the ingress and waits for an agent that does not answer. */
const delivery = async (call: Caller, label: string) => {
  const { id: agent_id, name: agent_name } = await agent(call, label)
  const key = await call('createAgentApiKey', { body: { agent_id, name: `key-${label}`, delivery: 'durable' } })
  const headers = { authorization: `AgentKey ${textOf(key, 'api_key')}` }
  await call('forwardPost', { params: { agent_name, path: 'hooks' }, body: { event: label }, headers })
  const key_id = textOf(key, 'id')
  const [accepted] = Object.values(await call('listDeliveries', { query: { key_id } })) as Record<string, unknown>[]
  return { delivery_id: textOf(accepted ?? {}, 'id'), key_id, agent_id, agent_name }
}

type Delivery = Awaited<ReturnType<typeof delivery>>

const byDelivery = (request: (delivery: Delivery) => Omit<NamedRequest, 'ids'>) => ({
  own: async (call: Caller, label: string) => {
    const made = await delivery(call, label)
    return { ...request(made), ids: Object.values(made) }
  },
  missing: (label: string) => {
    const none = { delivery_id: NOWHERE, key_id: NOWHERE, agent_id: NOWHERE, agent_name: `noagent-${label}` }
    return { ...request(none), ids: Object.values(none) }
  },
})

const RANGE = { received_from: START, received_before: '2100-01-01T00:00:00Z' }

/** What each operation of agent-api is asked about. A new operation needs a line here. */
export const agentFixtures: Fixtures = {
  createSpan: {
    own: async (call, label) => {
      const { id, trace_id } = await span(call, label)
      // It would add to the span that is there.
      return { body: { id, trace_id, name: 'work', start_time: START, output: { more: true } }, ids: [id, trace_id] }
    },
    missing: (label) => {
      const [id, trace_id] = [`none-${label}`, `notrace-${label}`]
      return { body: { id, trace_id, name: 'work', start_time: START, output: { more: true } }, ids: [id, trace_id] }
    },
  },
  listSpans: {
    own: async (call, label) => {
      const { id, trace_id } = await span(call, label)
      return { query: { trace_id }, ids: [id, trace_id] }
    },
    missing: (label) => ({ query: { trace_id: `notrace-${label}` }, ids: [`notrace-${label}`] }),
  },
  createSpanBatch: {
    own: (_call, label) => ({
      body: { spans: [{ id: `span-${label}`, trace_id: 't', name: 'n', start_time: START }] },
      ids: [`span-${label}`],
    }),
    missing: (label) => ({
      body: { spans: [{ id: `none-${label}`, trace_id: 't', name: 'n', start_time: START }] },
      ids: [`none-${label}`],
    }),
  },
  putSpanBatch: {
    own: async (call, label) => {
      const { id } = await span(call, label)
      return { body: { spans: [{ id, trace_id: 't', name: 'changed', start_time: START }] }, ids: [id] }
    },
    missing: (label) => {
      const id = `none-${label}`
      return { body: { spans: [{ id, trace_id: 't', name: 'changed', start_time: START }] }, ids: [id] }
    },
  },
  getSpan: bySpan(),
  updateSpan: bySpan({ name: 'changed' }),
  getTrace: {
    own: async (call, label) => {
      const { id, trace_id } = await span(call, label)
      return { params: { trace_id }, ids: [trace_id, id] }
    },
    missing: (label) => ({ params: { trace_id: `notrace-${label}` }, ids: [`notrace-${label}`] }),
  },
  getCheckpointTuple: byThread((thread_id) => ({ thread_id })),
  putCheckpoint: byThread((thread_id) => ({ thread_id, checkpoint_id: 'checkpoint-1', checkpoint: { changed: true } })),
  putCheckpointWrites: afterTouch(
    byThread((thread_id) => ({ thread_id, checkpoint_id: 'checkpoint-1', writes: [WRITE] })),
  ),
  listCheckpoints: byThread((thread_id) => ({ thread_id })),
  deleteThread: byThread((thread_id) => ({ thread_id })),
  getDeltaHistory: byThread((thread_id) => ({ thread_id, channels: ['messages'] })),
  pruneCheckpoints: byThread((thread_id) => ({ thread_ids: [thread_id], keep_last: 1 })),
  copyThread: byThread((thread_id, label) => ({ source_thread_id: thread_id, target_thread_id: `copy-${label}` })),
  deleteCheckpointsByRun: byThread((_thread, label) => ({ run_ids: [`run-${label}`] })),
  listThreads: {
    own: async (call, label) => {
      const thread_id = await checkpoint(call, label)
      return { body: {}, ids: [thread_id] }
    },
  },
  getCheckpointTtl: byThread((thread_id) => ({ thread_id })),
  setCheckpointTtl: byThread((thread_id) => ({ thread_id, ttl_seconds: 60 })),
  registerAgent: byAgent(({ name }) => ({
    body: { name, description: 'mine', acp_url: 'http://127.0.0.1:9', acp_type: 'sync' },
  })),
  listAgents: {
    own: async (call, label) => {
      const { id, name } = await agent(call, label)
      return { ids: [id, name] }
    },
  },
  getAgent: byAgent(({ id }) => ({ params: { agent_id: id } })),
  getAgentByName: byAgent(({ name }) => ({ params: { agent_name: name } })),
  deleteAgent: byAgent(({ id }) => ({ params: { agent_id: id } })),
  createWebhookTrigger: byAgent(({ name }) => ({
    body: { agent_name: name, name: 'octocat/hello-world', forward_path: 'hooks' },
  })),
  createAgentApiKey: byAgent(({ id }) => ({ body: { agent_id: id, name: 'second' } })),
  listAgentApiKeys: byKey(({ agent_id }) => ({ query: { agent_id } })),
  getAgentApiKey: byKey(({ id }) => ({ params: { key_id: id } })),
  getAgentApiKeyByName: byKey(({ name, agent_id }) => ({ params: { name }, query: { agent_id } })),
  rotateAgentApiKey: byKey(({ id }) => ({ params: { key_id: id }, body: {} })),
  deleteAgentApiKey: byKey(({ id }) => ({ params: { key_id: id } })),
  deleteAgentApiKeyByName: byKey(({ name, agent_id }) => ({ params: { name }, query: { agent_id } })),
  listDeliveries: byDelivery(({ key_id }) => ({ query: { key_id } })),
  getDelivery: byDelivery(({ delivery_id }) => ({ params: { delivery_id } })),
  replayDelivery: byDelivery(({ delivery_id }) => ({ params: { delivery_id } })),
  replayDeliveries: byDelivery(({ key_id }) => ({ body: { key_id, ...RANGE } })),
}
