import { groupCommit, isBlocked, isTransient, Overloaded, waitingAtMost, type Database } from '@keelson/database'
import type { Queue } from '@keelson/queue'
import { ApiError, uuidv7, type RawAnswer } from '@keelson/service-kit'
import { eventId } from '../forward/event-id.ts'
import type { HeaderFields, ReceivedHeaders } from '../forward/forwarded-headers.ts'
import type { WebhookKey } from '../forward/keyring.ts'
import type { Payload } from '../forward/payload.ts'
import { identityOf, writeDeliveries, type NewDelivery } from './write-deliveries.ts'

export type VerifiedEvent = {
  key: WebhookKey
  agent_name: string
  path: string
  query: string
  headers: ReceivedHeaders
  /** What the agent gets to see of them. */
  passed: HeaderFields
  /** The trace that its delivery belongs to. */
  traceparent: string | null
  body: Buffer
  payload: Payload | null
}

export type AcceptDeps = {
  db: Pick<Database, 'sql'>
  queue: Pick<Queue, 'ring'>
  /** Told of an event that is known already and needs nothing done. */
  onDuplicate: (source: string) => void
}

const newDelivery = (event: VerifiedEvent): NewDelivery => {
  const { key, agent_name, path, query, body } = event
  const { account_id, agent_id, key_id, source, is_disabled } = key
  const trace = event.traceparent === null ? {} : { traceparent: event.traceparent }
  return {
    account_id,
    id: uuidv7(),
    agent_id,
    agent_name,
    key_id,
    source,
    source_delivery_id: eventId(event),
    path,
    query,
    headers: JSON.stringify({ ...event.passed, ...trace }),
    body,
    status: is_disabled ? 'dead' : 'pending',
    last_error: is_disabled ? 'deliveries of this key are off' : null,
  }
}

/** Statements in flight at once: while they commit, the events that arrive gather for the next. */
const LANES = 2
const MAX_EVENTS = 100
const MAX_BYTES = 4_194_304
const MAX_QUEUED_BYTES = 268_435_456
const STALL_MS = 8_000

const busy = (error: unknown): never => {
  if (!(error instanceof Overloaded)) throw error
  throw new ApiError('unavailable', 'Too many webhooks are waiting to be written', { retryAfterSeconds: 1 })
}

/**
 * Commits verified events, many to a statement, and answers 202: from then on an event is delivered until the agent
 * accepts it. One that is known already is not kept twice; when it failed, or still waits, it is tried again now.
 */
export const deliveryAcceptor = ({ db, queue, onDuplicate }: AcceptDeps) => {
  const writes = groupCommit<NewDelivery, string | null>({
    write: (rows, lockTimeoutMs) => waitingAtMost(db, lockTimeoutMs, (statements) => writeDeliveries(statements, rows)),
    keyOf: identityOf,
    isTransient,
    isBlocked,
    lanes: LANES,
    maxItems: MAX_EVENTS,
    maxBytes: MAX_BYTES,
    maxQueuedBytes: MAX_QUEUED_BYTES,
    stallMs: STALL_MS,
  })

  return async (event: VerifiedEvent): Promise<RawAnswer> => {
    const row = newDelivery(event)
    const { account_id } = row
    const delivery_id = await writes.submit(account_id, row, row.body.length + row.headers.length).catch(busy)
    const trace = { traceparent: event.traceparent ?? undefined }
    if (delivery_id === null) onDuplicate(event.key.source)
    else void queue.ring('deliver_webhook', { delivery_id, account_id }, trace)
    const headers = delivery_id === null ? {} : { 'x-keelson-delivery-id': delivery_id }
    return { status: 202, headers }
  }
}
