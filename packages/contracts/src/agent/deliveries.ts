import { z } from '@hono/zod-openapi'
import { digitsOr } from '../digits.ts'
import { given, nullable } from '../given.ts'
import { route } from '../route.ts'
import { Id, Text } from '../text.ts'
import { Timestamp, UtcTimestamp } from '../timestamp.ts'
import { WebhookSource } from './webhook-trigger.ts'

const tag = 'webhook_deliveries'
const extension = true

export const WebhookDeliveryStatus = z.enum(['pending', 'delivered', 'dead']).openapi('WebhookDeliveryStatus', {
  description: '`dead`: given up after the last attempt, and kept for a replay',
})

export const WebhookDeliveryRecord = z
  .object({
    id: z.string().openapi({ example: '019aa5e0-7c1d-7b62-9a55-3f0e8a1c4d27' }),
    key_id: z.string(),
    agent_id: z.string(),
    agent_name: z.string().openapi({ example: 'triage' }),
    source: WebhookSource,
    source_delivery_id: z.string().nullable().openapi({ description: "The source's own id of the event" }),
    path: z.string().openapi({ description: "Below the agent's address", example: 'webhooks/github' }),
    body_bytes: z.int().openapi({ example: 8192 }),
    status: WebhookDeliveryStatus,
    attempts: z.int().openapi({ example: 1 }),
    last_status: z.int().nullable().openapi({ description: "The agent's last answer", example: 503 }),
    last_error: z.string().nullable().openapi({ description: 'Why the last attempt failed' }),
    received_at: UtcTimestamp,
    next_attempt_at: nullable(UtcTimestamp),
    delivered_at: nullable(UtcTimestamp),
  })
  .openapi('WebhookDeliveryRecord', { description: 'An event that was accepted in durable mode' })

export const ReplayDeliveriesRequest = z
  .object({
    key_id: Id,
    received_from: Timestamp,
    received_before: Timestamp,
    status: given(WebhookDeliveryStatus.openapi({ description: 'Only deliveries of this status' })),
  })
  .openapi('ReplayDeliveriesRequest')

export const ReplayDeliveriesResponse = z
  .object({ replayed: z.int().openapi({ description: 'How many will be delivered again', example: 3 }) })
  .openapi('ReplayDeliveriesResponse')

const params = z.object({ delivery_id: Id })

export const deliveries = {
  listDeliveries: route('listDeliveries', 'get', '/webhook_deliveries', {
    tag,
    summary: 'List deliveries, newest first',
    scope: 'agents:read',
    query: z.object({
      agent_name: Text.optional(),
      key_id: Id.optional(),
      status: WebhookDeliveryStatus.optional(),
      limit: digitsOr(50, { minimum: 1, maximum: 1000 }).openapi({ description: 'The most deliveries to return' }),
      starting_after: Id.optional().openapi({ description: 'A delivery id: the page begins with the one after it' }),
    }),
    ok: z.array(WebhookDeliveryRecord),
    extension,
  }),
  getDelivery: route('getDelivery', 'get', '/webhook_deliveries/{delivery_id}', {
    tag,
    summary: 'Get a delivery',
    scope: 'agents:read',
    params,
    ok: WebhookDeliveryRecord,
    extension,
  }),
  replayDelivery: route('replayDelivery', 'post', '/webhook_deliveries/{delivery_id}/replay', {
    tag,
    summary: 'Deliver an event again',
    scope: 'webhooks:write',
    params,
    ok: WebhookDeliveryRecord,
    extension,
  }),
  replayDeliveries: route('replayDeliveries', 'post', '/webhook_deliveries/replay', {
    tag,
    summary: 'Deliver the events of a time range again',
    scope: 'webhooks:write',
    body: ReplayDeliveriesRequest,
    ok: ReplayDeliveriesResponse,
    errors: ['not_found'],
    extension,
  }),
}

export type WebhookDeliveryRecord = z.infer<typeof WebhookDeliveryRecord>
