import type { QueueLog } from './observer.ts'

export type DoorbellState = {
  status: 'untried' | 'working' | 'failing'
  /** Batches of rings that failed since the last one that did not. */
  failures: number
  /** When the present run of failures began, in UTC. */
  failing_since: string | null
}

/** Remembers whether rings arrive, and logs each change once. */
export const doorbellHealth = (job: string, log: QueueLog) => {
  let state: DoorbellState = { status: 'untried', failures: 0, failing_since: null }
  return {
    state: (): DoorbellState => state,
    succeeded: () => {
      if (state.status === 'failing') log.info({ job, count: state.failures }, 'The doorbell works again')
      state = { status: 'working', failures: 0, failing_since: null }
    },
    failed: (error: unknown) => {
      if (state.status !== 'failing') {
        log.warn({ job, err: error }, 'The doorbell does not ring: jobs start when the reconciler finds them')
      }
      const failing_since = state.failing_since ?? new Date().toISOString()
      state = { status: 'failing', failures: state.failures + 1, failing_since }
    },
  }
}
