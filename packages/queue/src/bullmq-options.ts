import type { BulkJobOptions } from 'bullmq'
import type { Ring, WorkerOptions } from './backend.ts'

/** The events stream serves nobody here; this bounds what it keeps. */
export const QUEUE_OPTIONS = { streams: { events: { maxLen: 100 } } }

// No job id and no deduplication: BullMQ swallows an equal job while the first one runs, and with it the news.
const jobOptions = ({ delayMs, traceparent }: Ring): BulkJobOptions => ({
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: true,
  delay: delayMs,
  ...(traceparent === undefined ? {} : { telemetry: { metadata: JSON.stringify({ traceparent }) } }),
})

export const bulkJobs = (queue: string, rings: readonly Ring[]) =>
  rings.map((ring) => ({ name: queue, data: ring.payload, opts: jobOptions(ring) }))

/**
 * Settings of a worker whose jobs are retried by their rows, never by the queue. The default of BullMQ fails a job
 * after two lost workers; here it goes on to the next worker for ever.
 */
export const workerOptions = ({ concurrency, lockMs }: WorkerOptions) => ({
  autorun: false,
  concurrency,
  lockDuration: lockMs,
  stalledInterval: lockMs,
  maxStalledCount: 1_000_000,
  runRetryDelay: 1_000,
  drainDelay: 5,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
})

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** A W3C `traceparent`, or undefined when it is not one. */
export const validTraceparent = (text: unknown): string | undefined =>
  typeof text === 'string' && TRACEPARENT.test(text) ? text : undefined

/** The trace a job was rung in. */
export const traceparentOf = (options: BulkJobOptions): string | undefined => {
  try {
    const carrier: unknown = JSON.parse(options.telemetry?.metadata ?? '{}')
    return validTraceparent((carrier as { traceparent?: unknown } | null)?.traceparent)
  } catch {
    return undefined
  }
}
