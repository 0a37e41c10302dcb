import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * The series every process has, in a registry of its own; a package adds its own series to `registry`.
 * The route label is the pattern, never the path, so the number of series is bounded.
 */
export const createMetrics = () => {
  const registry = new Registry()
  // The default of 10 ms wakes an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  const registers = [registry]
  return {
    registry,
    requestSeconds: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the head of a request to its answer',
      labelNames: ['route', 'method', 'status'] as const,
      buckets: SECONDS,
      registers,
    }),
    shed: new Counter({
      name: 'http_requests_shed_total',
      help: 'Requests refused to protect the process or its neighbours',
      labelNames: ['reason'] as const,
      registers,
    }),
  }
}

/** Counts what the queue reports, `packages/queue`'s `Count`; a process has one. */
export const queueCounter = ({ registry }: Pick<Metrics, 'registry'>) => {
  const registers = [registry]
  const labelNames = ['job', 'result'] as const
  const counters = {
    queue_rings_total: new Counter({
      name: 'queue_rings_total',
      help: 'Doorbells by what became of them; silence or failures mean that the queue is broken',
      labelNames,
      registers,
    }),
    queue_jobs_total: new Counter({ name: 'queue_jobs_total', help: 'Jobs by how they ended', labelNames, registers }),
  }
  return (series: keyof typeof counters, labels: { job: string; result: string }) => counters[series].inc(labels)
}

/** A series whose value is asked for when somebody scrapes. */
export const gauge = (
  { registry }: Pick<Metrics, 'registry'>,
  name: string,
  help: string,
  read: () => number | Promise<number>,
) =>
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read())
    },
  })

export type Metrics = ReturnType<typeof createMetrics>
