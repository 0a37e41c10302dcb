import type { WebhookDeliveryRecord } from '@keelson/contracts/agent'

/** A delivery as its readers see it: everything but what is delivered. */
export type DeliveryRow = WebhookDeliveryRecord

export const DELIVERY_COLUMNS = [
  'id',
  'key_id',
  'agent_id',
  'agent_name',
  'source',
  'source_delivery_id',
  'path',
  'body_bytes',
  'status',
  'attempts',
  'last_status',
  'last_error',
  'received_at',
  'next_attempt_at',
  'delivered_at',
] as const
