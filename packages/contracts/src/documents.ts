import { z } from '@hono/zod-openapi'
import * as agent from './agent/index.ts'
import { Problem } from './errors.ts'
import { openApiDocument, type OpenApiDocument } from './openapi.ts'
import * as platform from './platform/index.ts'

const VERSION = '0.1.0'
const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }

/** What holds for every body. */
const BODIES =
  'The body of an operation may weigh `x-body-limit-bytes`, and its JSON may be nested 128 levels deep and have 200,000 members outside of free-form values. Where a text has a `maxLength` of bytes rather than characters, those of its UTF-8 count: ids and references have 255 of them.'

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description }) as const

/** The one that serves the document comes first: it is the one that `/docs` calls. */
const serversWith = (local: string) => [
  { url: '/', description: 'Where this document is served' },
  { url: local, description: 'The local stack' },
]

/** Every schema that a module exports is a component of the same name. */
const schemasOf = (exported: Record<string, unknown>): Record<string, z.ZodType> => {
  const schemas = Object.entries(exported).filter(
    (entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType,
  )
  return { ...Object.fromEntries(schemas), Problem }
}

/** The OpenAPI document of platform-api. */
export const platformDocument = (): OpenApiDocument =>
  openApiDocument({
    info: {
      title: 'Keelson platform API',
      version: VERSION,
      description: `Credentials, stored encrypted, and models, deployed through serving vendors. Errors are RFC 9457 problem details. ${BODIES}`,
      license,
    },
    servers: serversWith('http://127.0.0.1:8080'),
    tags: [
      { name: 'credentials', description: 'Secrets, stored encrypted; the plaintext is told by two operations only' },
      { name: 'models', description: 'Inference models: deployed at a serving vendor, or hosted by an external one' },
    ],
    securitySchemes: { ApiKey: header('x-api-key', 'A key as the `keys` command issues it') },
    keySchemes: ['ApiKey'],
    routes: platform.platformRoutes,
    schemas: schemasOf(platform),
  })

/** The OpenAPI document of agent-api. */
export const agentDocument = (): OpenApiDocument =>
  openApiDocument({
    info: {
      title: 'Keelson agent API',
      version: VERSION,
      description: `Spans, checkpoints, and agents with the webhooks that drive them. Errors are RFC 9457 problem details. An unset field of a span is \`null\`. ${BODIES}`,
      license,
    },
    servers: serversWith('http://127.0.0.1:8081'),
    tags: [
      { name: 'spans', description: 'Units of work in traces' },
      { name: 'checkpoints', description: 'The state of LangGraph threads' },
      { name: 'agents', description: 'The agents that webhooks are forwarded to' },
      { name: 'agent_api_keys', description: 'The keys and signing secrets that let webhooks in' },
      { name: 'webhook_deliveries', description: 'Events accepted in durable mode, and what became of them' },
      { name: 'forward', description: 'The ingress: verifies webhooks and forwards them to agents' },
    ],
    securitySchemes: {
      Bearer: { type: 'http', scheme: 'bearer', description: 'A key as the `keys` command issues it' },
      AgentKeyHeader: header(
        'x-agent-api-key',
        "A key, for clients that send only this header; at the ingress, an agent's own key",
      ),
      AgentKey: header('Authorization', "`AgentKey` and an agent's own key; the ingress only"),
      GitHubSignature: header('X-Hub-Signature-256', "GitHub's signature of the raw body"),
      SlackSignature: header('X-Slack-Signature', "Slack's `v0` signature of timestamp and raw body"),
      StandardWebhooks: header('webhook-signature', 'A Standard Webhooks signature of id, timestamp and raw body'),
    },
    keySchemes: ['Bearer', 'AgentKeyHeader'],
    routes: [...agent.agentRoutes, ...Object.values(agent.forward)],
    schemas: schemasOf(agent),
  })
