import {
  groupCommit,
  isBlocked,
  isTransient,
  Overloaded,
  retryingDeadlocks,
  waitingAtMost,
  type Database,
} from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import { changeSpans, createSpans, keyOf, type SpanWrite, type Written } from './write-spans.ts'

/** Writes spans of every account, many to a statement; see `groupCommit`. */
export type SpanWriter = {
  create: (write: SpanWrite) => Promise<Written>
  put: (write: SpanWrite) => Promise<Written>
  patch: (write: SpanWrite) => Promise<Written>
  readonly queuedBytes: number
  drain: () => Promise<void>
}

export type SpanWriterOptions = {
  /** Statements of one kind in flight at once. */
  lanes?: number
  /** What the spans that wait for their commit may weigh together. */
  maxQueuedBytes?: number
  /** How long a statement may take before all whose spans it writes are answered 503. */
  stallMs?: number
}

/** Made once: whoever is refused for want of room must not need any. */
export const WRITER_IS_FULL = new ApiError('unavailable', 'Too many spans are waiting to be written', {
  retryAfterSeconds: 1,
})

const NO_ANSWER = new ApiError('unavailable', 'The database does not answer; the span may still be written', {
  retryAfterSeconds: 1,
})

type Statement = (db: Pick<Database, 'sql'>, writes: readonly SpanWrite[]) => Promise<Written[]>

const MEBIBYTE = 1_048_576
/** What a span weighs beside its payloads: ids, times, the bookkeeping of the queue, its share of a request. */
const OVERHEAD_BYTES = 3072

/** A text takes up to two bytes for each of its UTF-16 units. */
const bytesOf = ({ input, output, data }: SpanWrite): number =>
  OVERHEAD_BYTES + 2 * ((input?.length ?? 0) + (output?.length ?? 0) + (data?.length ?? 0))

/** One writer serves the whole process, so that requests of all accounts share statements. */
export const spanWriter = (
  db: Database,
  { lanes = 3, maxQueuedBytes = 64 * MEBIBYTE, stallMs = 8000 }: SpanWriterOptions = {},
): SpanWriter => {
  const queue = (statement: Statement) =>
    groupCommit<SpanWrite, Written>({
      write: (writes, lockTimeoutMs) =>
        retryingDeadlocks(() => waitingAtMost(db, lockTimeoutMs, (statements) => statement(statements, writes))),
      keyOf,
      isTransient,
      isBlocked,
      lanes,
      maxItems: 200,
      fewItems: 16,
      besideShare: 2,
      maxBytes: 8 * MEBIBYTE,
      maxQueuedBytes,
      stallMs,
    })
  const queues = {
    create: queue(createSpans),
    put: queue((statements, writes) => changeSpans(statements, writes, 'replace')),
    patch: queue((statements, writes) => changeSpans(statements, writes, 'merge')),
  }

  const all = Object.values(queues)
  const queuedBytes = () => all.reduce((sum, queue) => sum + queue.queuedBytes, 0)

  const submit = (kind: keyof typeof queues) => async (write: SpanWrite) => {
    const bytes = bytesOf(write)
    try {
      if (queuedBytes() + bytes > maxQueuedBytes) throw WRITER_IS_FULL
      return await queues[kind].submit(write.account_id, write, bytes)
    } catch (error) {
      throw error instanceof Overloaded ? NO_ANSWER : error
    }
  }
  return {
    create: submit('create'),
    put: submit('put'),
    patch: submit('patch'),
    get queuedBytes() {
      return queuedBytes()
    },
    drain: async () => void (await Promise.all(all.map(({ drain }) => drain()))),
  }
}
