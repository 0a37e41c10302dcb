import { z } from '@hono/zod-openapi'
import { given, givenOr, nullable } from '../given.ts'
import { Id, Name, Text } from '../text.ts'
import { UtcTimestamp } from '../timestamp.ts'
import { ForwardPath, SigningSecret, WebhookDelivery, WebhookSource } from './webhook-trigger.ts'

export const KeyVerification = z.enum(['key', 'standard_webhooks']).openapi('KeyVerification', {
  description:
    '`key`: the sender shows the key. `standard_webhooks`: the sender signs with it. For `external` keys; extension',
})

export const AgentApiKey = z
  .object({
    id: z.string().openapi({ example: '019aa5e0-7c1d-7b62-9a55-3f0e8a1c4d27' }),
    agent_id: z.string().openapi({ example: '019aa5e0-1111-7b62-9a55-3f0e8a1c4d27' }),
    name: z.string().openapi({ example: 'octocat/hello-world' }),
    api_key_type: WebhookSource,
    verification: nullable(KeyVerification).openapi({ description: 'For `external` keys; `null` for others' }),
    forward_path: z
      .string()
      .nullable()
      .openapi({ description: 'What it opens, with all below; `null` for every path' }),
    delivery: WebhookDelivery,
    created_at: UtcTimestamp,
    rotated_at: nullable(UtcTimestamp),
    previous_expires_at: nullable(UtcTimestamp).openapi({
      description: 'Until when the secret before the rotation works',
    }),
    disabled_at: nullable(UtcTimestamp).openapi({
      description: 'Since when deliveries are off, after days of failure',
    }),
  })
  .openapi('AgentApiKey', { description: 'A key that lets webhooks in; its value is never told again' })

export const NewAgentApiKey = AgentApiKey.extend({
  api_key: z.string().openapi({ format: 'password', description: 'The value, told only now' }),
}).openapi('NewAgentApiKey')

type Owner = { agent_id?: string | undefined; agent_name?: string | undefined }

export const isOneAgent = ({ agent_id, agent_name }: Owner): boolean =>
  (agent_id === undefined) !== (agent_name === undefined)

export const ONE_AGENT = { error: 'exactly one of agent_id and agent_name is needed', path: ['agent_id'] }

const agent = { agent_id: given(Id), agent_name: given(Text).openapi({ example: 'triage' }) }

type New = { api_key_type: z.infer<typeof WebhookSource>; api_key?: string | undefined }

export const CreateAgentApiKeyRequest = z
  .object({
    ...agent,
    name: Name.openapi({ example: 'octocat/hello-world' }),
    api_key_type: givenOr(WebhookSource, 'external'),
    api_key: given(SigningSecret).openapi({ description: 'Needed for slack; left out, one is made' }),
    forward_path: given(ForwardPath).openapi({
      description: 'What it opens, with all below; left out, every path. Extension',
    }),
    verification: givenOr(KeyVerification, 'key'),
    delivery: givenOr(WebhookDelivery, 'sync'),
  })
  .refine(isOneAgent, ONE_AGENT)
  .refine(({ api_key_type, api_key }: New) => api_key_type !== 'slack' || api_key !== undefined, {
    error: "is needed for slack: the app's signing secret",
    path: ['api_key'],
  })
  .openapi('CreateAgentApiKeyRequest')

const DAY_SECONDS = 86_400

/** The longest that a former value works beside the new one. */
export const MAX_GRACE_SECONDS = 30 * DAY_SECONDS

export const RotateAgentApiKeyRequest = z
  .object({
    api_key: given(SigningSecret).openapi({ description: 'The new value, needed for slack; left out, one is made' }),
    grace_seconds: givenOr(z.int().min(0).max(MAX_GRACE_SECONDS), DAY_SECONDS).openapi({
      description: 'How long the value before works too',
    }),
  })
  .openapi('RotateAgentApiKeyRequest')

export type AgentApiKey = z.infer<typeof AgentApiKey>
