type LogLine = (fields: { [field: string]: unknown }, message: string) => void

/** Where the queue writes; the service-kit's logger fits. */
export type QueueLog = { info: LogLine; warn: LogLine; error: LogLine }

/** How a ring ended. `rung`: stored. `coalesced`: an equal one was about to be sent. `dropped`: too many were waiting. */
export type RingResult = 'rung' | 'coalesced' | 'failed' | 'dropped' | 'invalid'

/** How a job ended. `stalled`: its worker was lost and it goes to another one. */
export type JobResult = 'done' | 'failed' | 'invalid' | 'stalled'

/** Called once for each increment of a counter; `queue_rings_total` falling silent or failing is an alert. */
export type Count = (
  ...increment:
    | [series: 'queue_rings_total', labels: { job: string; result: RingResult }]
    | [series: 'queue_jobs_total', labels: { job: string; result: JobResult }]
) => void

export type Observer = { log: QueueLog; count: Count }

const silent: LogLine = () => {}

export const SILENT: Observer = { log: { info: silent, warn: silent, error: silent }, count: () => {} }
