import { createServer } from 'node:http'
import type { Registry } from 'prom-client'
import { closeServer, openServer } from './sockets.ts'

/** Serves `/metrics` and `/healthz` on a port that is not for callers. */
export const listenMetrics = async (registry: Registry, host: string, port: number) => {
  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 }, (request, response) => {
    if (request.url === '/healthz') return response.setHeader('content-type', 'application/json').end('{"status":"ok"}')
    if (request.url !== '/metrics') return response.writeHead(404).end()
    registry.metrics().then(
      (text) => response.setHeader('content-type', registry.contentType).end(text),
      () => response.writeHead(500).end(),
    )
    return undefined
  })
  const url = await openServer(server, host, port)
  return { url, [Symbol.asyncDispose]: () => closeServer(server) }
}
