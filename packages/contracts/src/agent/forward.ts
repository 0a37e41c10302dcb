import { createRoute, z } from '@hono/zod-openapi'
import type { ErrorCode } from '../errors.ts'
import { problemResponses } from '../problem-responses.ts'

export const WEBHOOK_LIMIT_BYTES = 26_214_400

const path = '/agents/forward/name/{agent_name}/{path}'

const params = z.object({
  agent_name: z.string().openapi({ example: 'triage' }),
  path: z.string().openapi({
    description: "What follows the agent's address, slashes included; the key must open it",
    example: 'webhooks/github',
  }),
})

const ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'invalid_signature',
  'payload_too_large',
  'rate_limited',
  'internal',
  'agent_unreachable',
  'unavailable',
  'agent_timeout',
]

const DESCRIPTION = `The request is verified before anything else is done with it, by one of: \`X-Hub-Signature-256\`
(GitHub, JSON or form), \`X-Slack-Signature\` (Slack v0), \`webhook-signature\` (Standard Webhooks), \`X-Agent-API-Key\`
or \`Authorization: AgentKey\`. Several at once are 400; an unknown key, agent or path and a bad signature are one 401.
It is then forwarded to the agent and the agent's answer streamed back; credentials, cookies and signatures are stripped
both ways.`.replaceAll('\n', ' ')

const anything = { '*/*': { schema: z.string().openapi({ description: 'Passed through as it is' }) } }

const forwardRoute = <const Id extends string>(operationId: Id, method: 'get' | 'post', summary: string) =>
  createRoute({
    operationId,
    method,
    path,
    tags: ['forward'],
    summary,
    description: DESCRIPTION,
    security: [
      { GitHubSignature: [] },
      { SlackSignature: [] },
      { StandardWebhooks: [] },
      { AgentKeyHeader: [] },
      { AgentKey: [] },
    ],
    request: { params, ...(method === 'post' && { body: { content: anything } }) },
    responses: {
      200: { description: "The agent's answer, whatever its status", content: anything },
      202: { description: 'Stored, and delivered until the agent accepts it: the answer in durable mode' },
      ...problemResponses(ERRORS),
    },
  })

/** The ingress of webhooks: no API key, no JSON; mounted by hand, documented here. */
export const forward = {
  forwardGet: forwardRoute('forwardGet', 'get', 'Forward a GET request to an agent'),
  forwardPost: forwardRoute('forwardPost', 'post', 'Forward a webhook to an agent'),
}
