import type { Job } from 'bullmq'

/** One doorbell press on its way to the backend. */
export type Ring = { payload: object; delayMs: number; traceparent: string | undefined }

/** Sends rings of one queue. */
export type Producer = {
  /** Resolves once `add` may be called; rejects when this producer never will be ready and must be opened anew. */
  ready: () => Promise<void>
  add: (rings: readonly Ring[]) => Promise<void>
  close: () => Promise<void>
}

/** The parts of a BullMQ worker that do not depend on its backend. */
export type BackendWorker = {
  /** Rejects when this worker never will be ready and must be opened anew. */
  ready: () => Promise<void>
  /** Takes jobs until closed. */
  run: () => Promise<void>
  /** Stops taking jobs and waits, without limit, for those under way. */
  close: () => Promise<void>
  /** Drops the connections, whatever is under way. */
  abandon: () => void
}

export type WorkerOptions = {
  process: (job: Job<unknown>) => Promise<void>
  onError: (error: Error) => void
  onStalled: () => void
  concurrency: number
  lockMs: number
}

/** Where jobs are kept: Redis, or BullMQ's tables in Postgres. */
export type Backend = AsyncDisposable & {
  name: 'redis' | 'postgres'
  producer: (queue: string) => Producer
  worker: (queue: string, options: WorkerOptions) => BackendWorker
  /** Rejects when the backend does not answer. */
  ping: () => Promise<void>
}
