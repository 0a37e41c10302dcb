import { setTimeout as delay } from 'node:timers/promises'
import { open, percentile, textsOf, type Request } from './exchange.ts'

/** Requests that come when they come, whether or not earlier ones have been answered. */
export type OpenLoad = {
  url: string
  /** Chosen at random, each as often as its weight says. */
  mix: readonly { weight: number; request: Request }[]
  perSecond: number
  seconds: number
  /** Numbers go from 0 to this. */
  count: number
}

/** Latencies run from when a request is sent. */
export type Offered = {
  /** Given up because no connection was free: sent later, they would be more than was to be offered. */
  unsent: number
  accepted: number
  /** Answered 429 or 503 with `Retry-After`. */
  refused: number
  /** Every other answer, and every broken connection, by what it was. */
  errors: Record<string, number>
  acceptedP50Ms: number
  acceptedP99Ms: number
  refusedP99Ms: number
}

const pickerOf = ({ url, mix }: OpenLoad) => {
  const texts = mix.flatMap(({ weight, request }) => {
    const textOf = textsOf(url, request)
    return Array.from({ length: weight }, () => textOf)
  })
  return () => texts[Math.floor(Math.random() * texts.length)]!
}

/** As many as the proxies of a busy day keep open. */
const CONNECTIONS = 512

/** Open before the first request is sent: Node accepts one at each turn of its event loop. */
const openConnections = async (url: string) => {
  const opened = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(url)))
  const idle = [...opened]
  for (const connection of opened) {
    // One on which nothing is asked is closed after a while, and no client asks on a closed one.
    connection.onClose(() => {
      if (idle.includes(connection)) idle.splice(idle.indexOf(connection), 1)
    })
  }
  return {
    idle,
    [Symbol.dispose]: () => opened.forEach(({ close }) => close()),
  }
}

const run = async (load: OpenLoad): Promise<Offered> => {
  const pick = pickerOf(load)
  using connections = await openConnections(load.url)
  const { idle } = connections
  const accepted: number[] = []
  const refused: number[] = []
  const errors: Record<string, number> = {}
  let unsent = 0
  const underWay = new Set<Promise<void>>()

  const send = async (n: number): Promise<void> => {
    const connection = idle.pop()
    if (!connection) {
      unsent += 1
      return
    }
    const sentAt = performance.now()
    const { status, head } = await connection.ask(pick()(n))
    idle.push(connection)
    const ms = performance.now() - sentAt
    if (status >= 200 && status < 300) accepted.push(ms)
    else if ((status === 429 || status === 503) && /^retry-after: \d/im.test(head)) refused.push(ms)
    else errors[status] = (errors[status] ?? 0) + 1
  }

  const started = performance.now()
  let due = started
  for (let n = 0; due < started + load.seconds * 1000;) {
    for (const now = performance.now(); due <= now; n = (n + 1) % load.count) {
      const sent: Promise<void> = send(n)
        .catch((error: unknown) => void (errors[String(error)] = (errors[String(error)] ?? 0) + 1))
        .finally(() => underWay.delete(sent))
      underWay.add(sent)
      // Arrivals of many independent callers: the gaps between them are exponentially distributed.
      due -= (Math.log(1 - Math.random()) * 1000) / load.perSecond
    }
    await delay(1)
  }
  await Promise.all(underWay)
  const [good, bad] = [accepted, refused].map((values) => Float64Array.from(values).toSorted()) as [
    Float64Array,
    Float64Array,
  ]
  return {
    unsent,
    accepted: good.length,
    refused: bad.length,
    errors,
    acceptedP50Ms: percentile(good, 0.5),
    acceptedP99Ms: percentile(good, 0.99),
    refusedP99Ms: percentile(bad, 0.99),
  }
}

process.on('disconnect', () => process.exit())
process.on('message', (load: OpenLoad) => {
  void run(load)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((outcome) => process.send?.(outcome))
})
