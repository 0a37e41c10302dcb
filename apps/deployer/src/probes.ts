import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from '@keelson/service-kit'

export type ProbeOptions = {
  host: string
  port: number
  /** Each rejects when its dependency is not there. */
  checks: Readonly<Record<string, () => Promise<unknown>>>
  registry: Metrics['registry']
  isStopping: () => boolean
}

const CHECK_MS = 2_000

const passes = async (check: () => Promise<unknown>): Promise<boolean> => {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), CHECK_MS).unref())
  const done = check().then(
    () => true,
    () => false,
  )
  return Promise.race([done, late])
}

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const answer = async (path: string, response: ServerResponse, { checks, registry, isStopping }: ProbeOptions) => {
  if (path === '/healthz') return send(response, 200, { status: 'ok' })
  if (path === '/metrics') {
    const text = await registry.metrics()
    response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    return undefined
  }
  if (path !== '/readyz') return send(response, 404, { status: 'unknown_path' })
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await passes(check)] as const),
  )
  const isReady = !isStopping() && results.every(([, passed]) => passed)
  const told = Object.fromEntries(results.map(([name, passed]) => [name, passed ? 'ok' : 'failed']))
  return send(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', checks: told })
}

const close = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Serves `/healthz`, `/readyz` and `/metrics`: all the HTTP that a worker has. */
export const listenProbes = async (options: ProbeOptions): Promise<AsyncDisposable & { port: number }> => {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    answer(new URL(request.url ?? '/', 'http://localhost').pathname, response, options).catch(() => {
      if (!response.headersSent) send(response, 500, { status: 'failed' })
      else response.destroy()
    })
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: () => close(server) }
}
