import { groupCommit, isTransient, Overloaded, sqlStateOf, type Database } from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import { changeSpans, createSpans, type SpanWrite, type Written } from './write-spans.ts'

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
  maxQueuedBytes?: number
}

type Statement = (writes: readonly SpanWrite[]) => Promise<Written[]>

const MEBIBYTE = 1_048_576
/** What a span weighs beside its payloads: ids, times and the bookkeeping of the queue. */
const OVERHEAD_BYTES = 512

const bytesOf = ({ input, output, data }: SpanWrite): number =>
  OVERHEAD_BYTES + (input?.length ?? 0) + (output?.length ?? 0) + (data?.length ?? 0)

const ATTEMPTS = 3

/** Statements of different kinds, or of two services, may lock the same spans in a circle; one of them is told to try again. */
const retryingDeadlocks = async (statement: () => Promise<Written[]>): Promise<Written[]> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await statement()
    } catch (error) {
      if (attempt === ATTEMPTS || sqlStateOf(error) !== '40P01') throw error
    }
  }
}

/** One writer serves the whole process, so that requests of all accounts share statements. */
export const spanWriter = (
  db: Database,
  { lanes = 2, maxQueuedBytes = 64 * MEBIBYTE }: SpanWriterOptions = {},
): SpanWriter => {
  const queue = (statement: Statement) =>
    groupCommit<SpanWrite, Written>({
      write: (writes) => retryingDeadlocks(() => statement(writes)),
      keyOf: ({ account_id, id }) => `${account_id} ${id}`,
      isTransient,
      lanes,
      maxItems: 200,
      maxBytes: 8 * MEBIBYTE,
      maxQueuedBytes,
    })
  const queues = {
    create: queue((writes) => createSpans(db, writes)),
    put: queue((writes) => changeSpans(db, writes, 'replace')),
    patch: queue((writes) => changeSpans(db, writes, 'merge')),
  }

  const submit = (kind: keyof typeof queues) => async (write: SpanWrite) => {
    try {
      return await queues[kind].submit(write.account_id, write, bytesOf(write))
    } catch (error) {
      if (error instanceof Overloaded)
        throw new ApiError('unavailable', 'Too many spans are waiting to be written', { retryAfterSeconds: 1 })
      throw error
    }
  }
  const all = Object.values(queues)
  return {
    create: submit('create'),
    put: submit('put'),
    patch: submit('patch'),
    get queuedBytes() {
      return all.reduce((sum, { queuedBytes }) => sum + queuedBytes, 0)
    },
    drain: async () => void (await Promise.all(all.map(({ drain }) => drain()))),
  }
}
