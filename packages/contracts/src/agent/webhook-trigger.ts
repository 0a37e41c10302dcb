import { z } from '@hono/zod-openapi'
import { given, givenOr } from '../given.ts'
import { HttpUrl } from '../http-url.ts'
import { Name, Text, textWithin } from '../text.ts'

export const WebhookSource = z
  .enum(['internal', 'external', 'github', 'slack'])
  .openapi('WebhookSource', { description: 'What sends the webhooks, which decides how they are verified' })

export const WebhookDelivery = z.enum(['sync', 'durable']).openapi('WebhookDelivery', {
  description:
    '`sync`: forwarded while the sender waits. `durable`: stored, answered 202, delivered until the agent accepts. Extension',
})

export const SECRET_CHARACTERS = 16

/** A signing secret somebody brings along. */
export const SigningSecret = textWithin(1024)
  .refine((text) => text.length >= SECRET_CHARACTERS, { error: `must be at least ${SECRET_CHARACTERS} characters` })
  .openapi({ format: 'password', minLength: SECRET_CHARACTERS, example: 'a-secret-of-16-or-more' })

const isSafePath = (path: string): boolean =>
  !/\p{Cc}/u.test(path) && path.split('/').every((segment) => segment !== '.' && segment !== '..')

/** The part of an agent's own paths that a key opens; leading slashes are dropped. */
export const ForwardPath = textWithin(2048)
  .overwrite((path) => path.replace(/^\/+/, ''))
  .refine(isSafePath, { error: 'must not hold control characters nor the segments . and ..' })
  .openapi({ description: 'What follows `/agents/forward/name/{agent_name}/`', example: 'webhooks/github' })

const delivery = givenOr(WebhookDelivery, 'sync')

export const CreateWebhookTriggerRequest = z
  .object({
    agent_name: Text.openapi({ description: 'The agent the webhook drives', example: 'triage' }),
    forward_path: ForwardPath,
    name: Name.openapi({
      description: 'The repository or organisation (github), or the app id (slack), that webhooks are from',
      example: 'octocat/hello-world',
    }),
    base_url: z
      .preprocess((text: string | null | undefined) => text || undefined, HttpUrl.optional())
      .openapi({
        description: 'The public address for `webhook_url`; left out, the configured one',
        example: 'https://agents.example.com',
      }),
    secret: given(SigningSecret).openapi({ description: 'Needed for slack; left out for github, one is made' }),
    source: givenOr(WebhookSource, 'github'),
    delivery,
  })
  .refine(({ source, secret }) => source !== 'slack' || secret !== undefined, {
    error: "is needed for slack: the app's signing secret",
    path: ['secret'],
  })
  .openapi('CreateWebhookTriggerRequest')

export const WebhookCreateWebhookTriggerResponse = z
  .object({
    agent_name: z.string().openapi({ example: 'triage' }),
    key_id: z
      .string()
      .openapi({ description: 'The key that was created', example: '019aa5e0-7c1d-7b62-9a55-3f0e8a1c4d27' }),
    name: z.string().openapi({ example: 'octocat/hello-world' }),
    secret: z.string().openapi({ format: 'password', description: 'The signing secret, told only now' }),
    source: WebhookSource,
    webhook_path: z.string().openapi({ example: '/agents/forward/name/triage/webhooks/github' }),
    webhook_url: z.string().optional().openapi({
      description: 'What to paste into the source; absent without a base URL',
      example: 'https://agents.example.com/agents/forward/name/triage/webhooks/github',
    }),
    delivery: WebhookDelivery.optional(),
  })
  .openapi('WebhookCreateWebhookTriggerResponse')

export type WebhookSource = z.infer<typeof WebhookSource>
export type WebhookDelivery = z.infer<typeof WebhookDelivery>
