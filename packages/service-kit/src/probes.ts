import { createServer, type ServerResponse } from 'node:http'
import { healthOf, type Health, type HealthOptions } from './health.ts'
import { listenMetrics } from './metrics-server.ts'
import type { Metrics } from './metrics.ts'
import { closeServer, openServer } from './sockets.ts'

export type ProbeOptions = HealthOptions & {
  host: string
  /** 0 for any free one. */
  port: number
  /** 0 for any free one. */
  metricsPort: number
  metrics: Pick<Metrics, 'registry'>
}

const send = (response: ServerResponse, { status, body, headers }: Health): void => {
  response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(body)
}

/** All the HTTP that a worker has: `/healthz` and `/readyz`, and its metrics on a port of their own. */
export const listenProbes = async (options: ProbeOptions) => {
  const { host, port, metricsPort, metrics, log } = options
  await using stack = new AsyncDisposableStack()
  const { url: metricsUrl } = stack.use(await listenMetrics(metrics.registry, host, metricsPort))
  const { healthz, readyz } = healthOf(options)
  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 }, (request, response) => {
    if (request.url === '/healthz') send(response, healthz())
    else if (request.url === '/readyz') void readyz().then((health) => send(response, health))
    else response.writeHead(404).end()
  })
  const url = await openServer(server, host, port)
  stack.defer(() => closeServer(server))
  log.info({ host, port: Number(new URL(url).port) }, 'listening')
  const owned = stack.move()
  return { url, metricsUrl, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
