import { z } from '@hono/zod-openapi'
import { FreeFormObject, Metadata } from '../free-form.ts'
import { given, nullable } from '../given.ts'
import { HttpUrl } from '../http-url.ts'
import { anyCaseOneOf, pageQuery } from '../page-query.ts'
import { route } from '../route.ts'
import { Id, Text, textWithin } from '../text.ts'
import { UtcTimestamp } from '../timestamp.ts'

const tag = 'agents'
const EXAMPLE = { id: '019aa5e0-7c1d-7b62-9a55-3f0e8a1c4d27', name: 'triage' }

export const AcpType = z
  .enum(['sync', 'async', 'agentic'])
  .openapi('AcpType', { description: 'How the agent is spoken to' })
export const AgentInputType = z.enum(['text', 'json']).openapi('AgentInputType')
export const AgentStatus = z
  .enum(['Ready', 'Failed', 'Unknown', 'Deleted', 'Unhealthy', 'BuildOnly'])
  .openapi('AgentStatus')

export const Agent = z
  .object({
    id: z.string().openapi({ example: EXAMPLE.id }),
    name: z.string().openapi({ example: EXAMPLE.name }),
    description: z.string().openapi({ example: 'Sorts incoming issues' }),
    status: AgentStatus,
    status_reason: z.string().nullable(),
    acp_type: AcpType,
    agent_input_type: nullable(AgentInputType),
    registration_metadata: nullable(FreeFormObject),
    registered_at: nullable(UtcTimestamp),
    created_at: UtcTimestamp,
    updated_at: UtcTimestamp,
  })
  .openapi('Agent', { description: 'An agent that webhooks are forwarded to; its address is never told' })

export const RegisterAgentRequest = z
  .object({
    name: textWithin(255, 1)
      .regex(/^[a-z0-9-]+$/, { error: 'must be lower-case letters, digits and dashes' })
      .openapi({ description: 'Unique in the account', example: EXAMPLE.name }),
    description: textWithin(16_384).openapi({ example: 'Sorts incoming issues' }),
    acp_url: HttpUrl.openapi({ description: 'Where the agent listens', example: 'http://127.0.0.1:8000' }),
    acp_type: AcpType,
    agent_id: given(Id).openapi({
      description: 'The agent to change, which may be renamed; left out, the name decides',
    }),
    agent_input_type: given(AgentInputType),
    registration_metadata: given(Metadata).openapi({ description: 'Merged into what is there' }),
  })
  .openapi('RegisterAgentRequest')

export const RegisterAgentResponse = Agent.extend({
  agent_api_key: z
    .string()
    .openapi({ description: 'A fresh key of the agent, told only now', example: 'klagent_example' }),
  signing_secret: z.string().openapi({
    description:
      'With it the agent verifies what the ingress forwards (Standard Webhooks); the same at every registration, so that replicas agree. Extension',
    example: 'whsec_example',
  }),
}).openapi('RegisterAgentResponse')

export const AgentDeleteResponse = z
  .object({
    id: z.string().openapi({ example: EXAMPLE.id }),
    message: z.string().openapi({ example: 'Agent deleted' }),
  })
  .openapi('AgentDeleteResponse')

const params = z.object({ agent_id: Id.openapi({ example: EXAMPLE.id }) })
const byName = z.object({ agent_name: Id.openapi({ example: EXAMPLE.name }) })

export const agents = {
  registerAgent: route('registerAgent', 'post', '/agents/register', {
    tag,
    summary: 'Register an agent, or change one',
    description: 'A deleted agent of the same name comes back.',
    scope: 'agents:write',
    body: RegisterAgentRequest,
    ok: RegisterAgentResponse,
    errors: ['not_found', 'agent_exists'],
  }),
  listAgents: route('listAgents', 'get', '/agents', {
    tag,
    summary: 'List agents',
    scope: 'agents:read',
    query: z.object({
      ...pageQuery,
      name: Text.optional().openapi({ description: 'Only the agent of exactly this name. Extension' }),
      order_by: anyCaseOneOf(['created_at', 'updated_at', 'name']).openapi({
        description: 'The field to sort by; ties by id',
      }),
      order_direction: anyCaseOneOf(['desc', 'asc']).openapi({ description: 'In upper or lower case' }),
    }),
    ok: z.array(Agent),
  }),
  getAgent: route('getAgent', 'get', '/agents/{agent_id}', {
    tag,
    summary: 'Get an agent by id',
    scope: 'agents:read',
    params,
    ok: Agent,
  }),
  getAgentByName: route('getAgentByName', 'get', '/agents/name/{agent_name}', {
    tag,
    summary: 'Get an agent by name',
    scope: 'agents:read',
    params: byName,
    ok: Agent,
  }),
  deleteAgent: route('deleteAgent', 'delete', '/agents/{agent_id}', {
    tag,
    summary: 'Delete an agent',
    description: 'Its keys and webhooks stop working at once.',
    scope: 'agents:delete',
    params,
    ok: AgentDeleteResponse,
  }),
}
