import { setTimeout as delay } from 'node:timers/promises'
import { open, percentile, textsOf, type Connection, type Request } from './exchange.ts'

export type { Request } from './exchange.ts'

export type Load = {
  url: string
  /** The requests of the first connection, of the second, and so on; in turn when there are more connections. */
  requests: readonly Request[]
  /** Each has one request under way at a time. */
  connections: number
  seconds: number
  /** Numbers start here, and begin again after `count`. */
  from?: number
  count?: number
}

export type Loaded = {
  /** How many succeeded; rate and latencies are theirs. */
  requests: number
  /** How many were answered 429 or 503. */
  shed: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

const run = async (load: Load): Promise<Loaded> => {
  const { url, requests, connections, seconds, from = 0, count = Infinity } = load
  const latencies: number[] = []
  let shed = 0
  let next = 0
  const opened = await Promise.all(Array.from({ length: connections }, () => open(url)))
  const started = performance.now()
  const until = started + seconds * 1000

  const drive = async (connection: Connection, index: number): Promise<void> => {
    const textOf = textsOf(url, requests[index % requests.length]!)
    while (performance.now() < until) {
      const sent = performance.now()
      const { status } = await connection.ask(textOf(from + (next++ % count)))
      if (status >= 200 && status < 300) latencies.push(performance.now() - sent)
      else if (status === 503 || status === 429) shed += 1
      else throw new Error(`${load.requests[0]?.method} ${load.requests[0]?.path} was answered ${status}`)
      if (status === 503) await delay(20)
    }
  }

  await Promise.all(opened.map(drive)).finally(() => opened.forEach(({ close }) => close()))
  const took = (performance.now() - started) / 1000
  const sorted = Float64Array.from(latencies).toSorted()
  return {
    requests: sorted.length,
    shed,
    perSecond: sorted.length / took,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  }
}

process.on('disconnect', () => process.exit())
process.on('message', (load: Load) => {
  void run(load)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((outcome) => process.send?.(outcome))
})
