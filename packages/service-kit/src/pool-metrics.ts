import { Histogram } from 'prom-client'
import type { Metrics } from './metrics.ts'

const SECONDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5]
/** Less than a scrape may take. */
const PATIENCE_MS = 500

type Reserve = () => Promise<{ release: () => void }>

/** How long a connection took to get; as long as we waited when there was none. */
const secondsToReserve = async (reserve: Reserve): Promise<number> => {
  const startedAt = performance.now()
  const { promise: patience, resolve: giveUp } = Promise.withResolvers<void>()
  const timer = setTimeout(giveUp, PATIENCE_MS)
  const reserved = reserve().then(
    (connection) => connection.release(),
    () => patience,
  )
  await Promise.race([reserved, patience])
  clearTimeout(timer)
  return (performance.now() - startedAt) / 1000
}

/**
 * Tries at each scrape how long a request would wait for a connection to Postgres, for at most half a second.
 *
 * @param reserve takes a connection out of the pool, as `sql.reserve` of postgres.js does
 */
export const watchPool = ({ registry }: Pick<Metrics, 'registry'>, reserve: Reserve) =>
  new Histogram({
    name: 'pg_pool_wait_seconds',
    help: 'Time until a connection to Postgres is free, tried at each scrape',
    buckets: SECONDS,
    registers: [registry],
    async collect() {
      this.observe(await secondsToReserve(reserve))
    },
  })
