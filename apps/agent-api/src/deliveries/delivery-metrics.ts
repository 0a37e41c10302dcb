import type { Database } from '@keelson/database'
import { gauge, type Metrics } from '@keelson/service-kit'
import { Counter } from 'prom-client'

/** How much is still to be delivered, asked of the database at each scrape: the same from every replica. */
export const deliveryMetrics = (metrics: Pick<Metrics, 'registry'>, { sql }: Pick<Database, 'sql'>): void => {
  gauge(metrics, 'webhook_deliveries_pending', 'Accepted events that are not delivered yet', async () => {
    const [row] = await sql<{ pending: number }[]>`
      select count(*)::integer as pending from agent.webhook_deliveries where status = 'pending'`
    return row?.pending ?? 0
  })
  gauge(metrics, 'oldest_delivery_seconds', 'For how long the most overdue delivery has been due', async () => {
    const [row] = await sql<{ seconds: number | null }[]>`
      select extract(epoch from now() - min(next_attempt_at))::float8 as seconds
      from agent.webhook_deliveries where status = 'pending'`
    return Math.max(0, row?.seconds ?? 0)
  })
}

/** Counts attempts at deliveries by what came of them. */
export const deliveryCounter = ({ registry }: Pick<Metrics, 'registry'>) => {
  const attempts = new Counter({
    name: 'delivery_attempts_total',
    help: 'Attempts to deliver accepted events, by what came of them',
    labelNames: ['result'] as const,
    registers: [registry],
  })
  return (result: 'delivered' | 'failed' | 'given_up') => attempts.inc({ result })
}
