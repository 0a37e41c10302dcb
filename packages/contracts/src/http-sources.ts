import { agentDocument, platformDocument } from './documents.ts'
import type { HttpDocument, HttpSource } from './http-requests.ts'

/** What an earlier request was answered, at a path of its body. */
const answered = (operation: string, path: string) => `{{${operation}.response.body.$.${path}}}`

const AGENT = answered('registerAgent', 'name')
const AGENT_KEY = `X-Agent-API-Key: ${answered('createAgentApiKey', 'api_key')}`
const ofAgent = `agent_name=${AGENT}`

const platform: HttpSource = {
  document: platformDocument() as unknown as HttpDocument,
  baseUrl: 'http://127.0.0.1:8080',
  keyHeader: 'x-api-key: {{key}}',
  params: {
    credential_id: answered('createCredential', 'id'),
    credential_name: answered('createCredential', 'name'),
    model_id: answered('createModel', 'id'),
  },
  queries: {},
  bodies: {
    // A hosted model: it is ready at once, so that all that follows can be tried without a wait.
    createModel: { vendor_configuration: undefined, model_vendor: 'openai', model_type: 'chat_completion' },
    updateModel: { vendor_configuration: undefined },
  },
  heads: {},
  first: ['createCredential', 'createModel'],
  last: ['deleteCredential', 'deleteModel'],
}

const agent: HttpSource = {
  document: agentDocument() as unknown as HttpDocument,
  baseUrl: 'http://127.0.0.1:8081',
  keyHeader: 'Authorization: Bearer {{key}}',
  params: {
    span_id: answered('createSpan', 'id'),
    trace_id: answered('createSpan', 'trace_id'),
    agent_id: answered('registerAgent', 'id'),
    agent_name: AGENT,
    key_id: answered('createAgentApiKey', 'id'),
    name: 'octocat%2Fhello-world',
    delivery_id: answered('listDeliveries', '0.id'),
    path: 'webhooks/example',
  },
  queries: {
    listAgentApiKeys: ofAgent,
    getAgentApiKeyByName: `${ofAgent}&api_key_type=github`,
    deleteAgentApiKeyByName: `${ofAgent}&api_key_type=github`,
  },
  bodies: {
    registerAgent: { acp_url: '{{agent}}' },
    createAgentApiKey: { agent_name: AGENT, name: 'example', delivery: 'durable' },
    createWebhookTrigger: { agent_name: AGENT },
    forwardPost: { action: 'opened' },
    replayDeliveries: {
      key_id: answered('createAgentApiKey', 'id'),
      received_from: '2026-01-01T00:00:00Z',
      received_before: '2100-01-01T00:00:00Z',
    },
    putSpanBatch: {
      spans: [{ id: 'span-1', trace_id: 'task-42', name: 'chat', start_time: '2026-11-21T09:30:00Z' }],
    },
    updateSpan: { start_time: undefined },
    copyThread: { target_thread_id: 'thread-8' },
    listThreads: { starting_after: undefined },
    rotateAgentApiKey: { api_key: undefined },
  },
  heads: { forwardPost: [AGENT_KEY], forwardGet: [AGENT_KEY] },
  first: [
    'createSpan',
    'putCheckpoint',
    'putCheckpointWrites',
    'registerAgent',
    'createAgentApiKey',
    'createWebhookTrigger',
    'forwardPost',
    'forwardGet',
    'listDeliveries',
  ],
  last: ['deleteThread', 'deleteAgentApiKeyByName', 'deleteAgentApiKey', 'deleteAgent'],
}

export const HTTP_SOURCES = { 'platform-api': platform, 'agent-api': agent }
