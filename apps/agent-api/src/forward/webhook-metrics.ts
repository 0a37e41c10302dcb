import { ApiError, type Metrics } from '@keelson/service-kit'
import { Counter } from 'prom-client'

/** What became of a request to the ingress; `source` is how it proved itself. */
export type WebhookOutcome = { source: string; result: string }

/** The series of the ingress. Results are `forwarded`, `stored`, `answered`, or the code of the problem. */
export const webhookMetrics = ({ registry }: Pick<Metrics, 'registry'>) => {
  const registers = [registry]
  const requests = new Counter({
    name: 'webhook_requests_total',
    help: 'Requests to the ingress by how they proved themselves and what became of them',
    labelNames: ['source', 'result'] as const,
    registers,
  })
  const duplicates = new Counter({
    name: 'webhook_dedup_total',
    help: 'Events that were known already and not handed to their agent again',
    labelNames: ['source'] as const,
    registers,
  })
  return {
    duplicate: (source: string) => duplicates.inc({ source }),
    /** Counts whatever comes of the work, which names its outcome while it goes on. */
    counting: async <T>(work: (outcome: WebhookOutcome) => Promise<T>): Promise<T> => {
      const outcome: WebhookOutcome = { source: 'none', result: 'forwarded' }
      try {
        return await work(outcome)
      } catch (error) {
        outcome.result = error instanceof ApiError ? error.code : 'failed'
        throw error
      } finally {
        requests.inc(outcome)
      }
    },
  }
}
