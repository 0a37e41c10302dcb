import type { Database } from '@keelson/database'
import { gauge, type Metrics } from '@keelson/service-kit'

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
