import { z } from '@hono/zod-openapi'
import { pageQuery } from '../page-query.ts'
import { route } from '../route.ts'
import { Id, Name, Text } from '../text.ts'
import {
  AgentApiKey,
  CreateAgentApiKeyRequest,
  isOneAgent,
  NewAgentApiKey,
  ONE_AGENT,
  RotateAgentApiKeyRequest,
} from './agent-api-key.ts'
import { CreateWebhookTriggerRequest, WebhookCreateWebhookTriggerResponse, WebhookSource } from './webhook-trigger.ts'

const tag = 'agent_api_keys'

const ofAgent = {
  agent_id: Id.optional().openapi({ description: 'This or agent_name' }),
  agent_name: Text.optional().openapi({ description: 'This or agent_id' }),
}
const byName = {
  params: z.object({
    name: Name.openapi({ description: 'The name, percent-encoded once', example: 'octocat/hello-world' }),
  }),
  query: z.object({ ...ofAgent, api_key_type: WebhookSource.default('external') }).refine(isOneAgent, ONE_AGENT),
}
const params = z.object({ key_id: Id })
const DELETED = 'A sentence for people'

export const agentApiKeys = {
  createWebhookTrigger: route('createWebhookTrigger', 'post', '/agent_api_keys/webhook-trigger', {
    tag,
    summary: 'Register a signing key and get the webhook URL for it',
    scope: 'webhooks:write',
    body: CreateWebhookTriggerRequest,
    ok: WebhookCreateWebhookTriggerResponse,
    errors: ['unsupported_source', 'not_found', 'agent_api_key_exists'],
  }),
  createAgentApiKey: route('createAgentApiKey', 'post', '/agent_api_keys', {
    tag,
    summary: 'Create a key of an agent',
    scope: 'webhooks:write',
    body: CreateAgentApiKeyRequest,
    ok: NewAgentApiKey,
    errors: ['unsupported_source', 'not_found', 'agent_api_key_exists'],
  }),
  listAgentApiKeys: route('listAgentApiKeys', 'get', '/agent_api_keys', {
    tag,
    summary: 'List the keys of an agent, oldest first',
    scope: 'agents:read',
    query: z.object({ ...ofAgent, ...pageQuery }).refine(isOneAgent, ONE_AGENT),
    ok: z.array(AgentApiKey),
    errors: ['not_found'],
  }),
  getAgentApiKey: route('getAgentApiKey', 'get', '/agent_api_keys/{key_id}', {
    tag,
    summary: 'Get a key by id',
    scope: 'agents:read',
    params,
    ok: AgentApiKey,
  }),
  getAgentApiKeyByName: route('getAgentApiKeyByName', 'get', '/agent_api_keys/name/{name}', {
    tag,
    summary: 'Get a key by name',
    scope: 'agents:read',
    ...byName,
    ok: AgentApiKey,
  }),
  rotateAgentApiKey: route('rotateAgentApiKey', 'post', '/agent_api_keys/{key_id}/rotate', {
    tag,
    summary: 'Give a key a new value',
    description: 'During the grace period the value before works too.',
    scope: 'webhooks:write',
    params,
    body: RotateAgentApiKeyRequest,
    ok: NewAgentApiKey,
    extension: true,
  }),
  deleteAgentApiKey: route('deleteAgentApiKey', 'delete', '/agent_api_keys/{key_id}', {
    tag,
    summary: 'Delete a key by id',
    scope: 'webhooks:write',
    params,
    ok: z.string(),
    okDescription: DELETED,
  }),
  deleteAgentApiKeyByName: route('deleteAgentApiKeyByName', 'delete', '/agent_api_keys/name/{name}', {
    tag,
    summary: 'Delete a key by name',
    scope: 'webhooks:write',
    ...byName,
    ok: z.string(),
    okDescription: DELETED,
  }),
}
