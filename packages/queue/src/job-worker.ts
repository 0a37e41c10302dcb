import { setTimeout as delay } from 'node:timers/promises'
import type { Job } from 'bullmq'
import type { Backend, BackendWorker } from './backend.ts'
import { traceparentOf } from './bullmq-options.ts'
import { catalogue, type JobName, type JobPayload } from './catalogue.ts'
import type { Observer } from './observer.ts'
import { within } from './within.ts'

const REOPEN_DELAY_MS = 1_000
const OUTAGE_LOG_EVERY_MS = 10_000
/** For telling the backend that a job is over; one that is away is not waited for. */
const GOODBYE_MS = 500

export type JobContext = {
  /** Aborts when the worker was told to close and the job is still running at the deadline. */
  signal: AbortSignal
  /** The W3C trace of whoever rang. */
  traceparent: string | undefined
}

/** Looks at the row the payload names and does what is due. May be called twice, late, or without need. */
export type JobHandler<Name extends JobName> = (payload: JobPayload<Name>, context: JobContext) => Promise<void>

export type WorkOptions = {
  /** Jobs of this worker at a time. */
  concurrency?: number
  lockMs?: number
}

export type JobWorker = AsyncDisposable & { state: () => 'connecting' | 'working' | 'closed' }

type Setting<Name extends JobName> = WorkOptions & {
  name: Name
  handler: JobHandler<Name>
  backend: Backend
  drainMs: number
  observer: Observer
}

const processor = <Name extends JobName>({ name, handler, observer }: Setting<Name>, signal: AbortSignal) => {
  const { count, log } = observer
  return async (job: Job<unknown>): Promise<void> => {
    const parsed = catalogue[name].schema.safeParse(job.data)
    if (!parsed.success) {
      count('queue_jobs_total', { job: name, result: 'invalid' })
      return log.warn({ job: name, job_id: job.id }, 'A job with an unknown payload was dropped')
    }
    try {
      await handler(parsed.data as JobPayload<Name>, { signal, traceparent: traceparentOf(job.opts) })
      count('queue_jobs_total', { job: name, result: 'done' })
    } catch (error) {
      count('queue_jobs_total', { job: name, result: 'failed' })
      log.error({ job: name, job_id: job.id, err: error }, 'A job failed: its row decides when it is tried again')
    }
  }
}

/** Tells of an outage every 10 s, however many errors it makes. */
const outageLog = (name: JobName, { log }: Observer) => {
  let quietUntil = 0
  return (error: Error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + OUTAGE_LOG_EVERY_MS
    log.warn({ job: name, err: error }, 'The worker cannot reach its queue')
  }
}

const openWorker = <Name extends JobName>(
  setting: Setting<Name>,
  process: (job: Job<unknown>) => Promise<void>,
): BackendWorker => {
  const { name, backend, observer } = setting
  const { concurrency, lockMs } = catalogue[name].options
  return backend.worker(name, {
    process,
    onError: outageLog(name, observer),
    onStalled: () => observer.count('queue_jobs_total', { job: name, result: 'stalled' }),
    concurrency: setting.concurrency ?? concurrency,
    lockMs: setting.lockMs ?? lockMs,
  })
}

/** Remembers which jobs run. */
const tracked = (process: (job: Job<unknown>) => Promise<void>) => {
  const running = new Set<Promise<void>>()
  return {
    running,
    process: async (job: Job<unknown>) => {
      const run = process(job)
      running.add(run)
      await run.finally(() => running.delete(run))
    },
  }
}

/** Takes jobs of one kind until disposed, reconnecting for ever. Disposing waits for running jobs up to `drainMs`. */
export const startWorker = <Name extends JobName>(setting: Setting<Name>): JobWorker => {
  const handlers = new AbortController()
  const closing = new AbortController()
  const { running, process } = tracked(processor(setting, handlers.signal))
  let worker: BackendWorker = openWorker(setting, process)
  let state: ReturnType<JobWorker['state']> = 'connecting'

  const keepOpen = async () => {
    while (!closing.signal.aborted) {
      try {
        await worker.ready()
        if (closing.signal.aborted) return
        state = 'working'
        return await worker.run()
      } catch {
        worker.abandon()
        await delay(REOPEN_DELAY_MS, undefined, { signal: closing.signal }).catch(() => {})
        if (!closing.signal.aborted) worker = openWorker(setting, process)
      }
    }
  }
  void keepOpen()

  const drain = async (goodbye: Promise<void>) => {
    let said = false
    do {
      await Promise.all(running)
      said = await within(goodbye, GOODBYE_MS).then(
        () => true,
        () => false,
      )
    } while (running.size > 0)
    if (!said) worker.abandon()
  }

  const close = async () => {
    closing.abort()
    state = 'closed'
    try {
      await within(drain(worker.close()), setting.drainMs)
    } catch {
      handlers.abort()
      worker.abandon()
    }
  }
  let closed: Promise<void> | undefined
  return { state: () => state, [Symbol.asyncDispose]: () => (closed ??= close()) }
}
