import { gauge, type Metrics } from './metrics.ts'

type WatchedQueue = { ping: () => Promise<void>; state: () => { backend: string } }

/** Tells at each scrape whether Redis answers; nothing where the queue is in Postgres. */
export const watchRedis = (metrics: Pick<Metrics, 'registry'>, queue: WatchedQueue): void => {
  if (queue.state().backend !== 'redis') return
  gauge(metrics, 'redis_up', 'Whether Redis answers: 1, or 0', () =>
    queue.ping().then(
      () => 1,
      () => 0,
    ),
  )
}
