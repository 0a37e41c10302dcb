import { getRequestListener } from '@hono/node-server'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { onClientError, refuseSocket, unreadableResponse } from './client-error.ts'
import { drainServer } from './drain.ts'
import { listenMetrics } from './metrics-server.ts'
import { MAX_HEADERS } from './request-head.ts'
import type { Service } from './service.ts'
import { openServer } from './sockets.ts'
import { unreadAnswers } from './unread-answers.ts'

export type ListenOptions = {
  host: string
  /** 0 for any free one. */
  port: number
  /** 0 for any free one. */
  metricsPort: number
  /** How long requests in flight may take at the end, before their connections are cut. */
  drainMs: number
  timeouts?: Partial<typeof TIMEOUTS>
}

/** Where a service can be reached; disposing it drains and closes it. */
export type Listening = AsyncDisposable & { url: string; metricsUrl: string }

const TIMEOUTS = {
  headersTimeoutMs: 10_000,
  /** For the whole request, its body included; and for its whole answer to be taken. */
  requestTimeoutMs: 60_000,
  /** After which an answer that is not taken counts as one of those that share `MAX_UNREAD_BYTES`. */
  unreadGraceMs: 2000,
  /** Longer than load balancers keep a connection, so that it is they who close it. */
  keepAliveTimeoutMs: 65_000,
  checkIntervalMs: 1000,
  /** Without a byte either way, be it that the client does not read. */
  silenceTimeoutMs: 300_000,
}

const MAX_HEADER_BYTES = 16_384
const MAX_CONNECTIONS = 10_000
const MAX_UNREAD_BYTES = 67_108_864

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const createHttpServer = (listener: Listener, timeouts: typeof TIMEOUTS): Server => {
  const server = createServer(
    {
      headersTimeout: timeouts.headersTimeoutMs,
      requestTimeout: timeouts.requestTimeoutMs,
      keepAliveTimeout: timeouts.keepAliveTimeoutMs,
      connectionsCheckingInterval: timeouts.checkIntervalMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The answer to a missing Host is ours to give.
      requireHostHeader: false,
    },
    listener,
  )
  // One more than allowed, so that the surplus is seen: Node drops what is beyond.
  server.maxHeadersCount = MAX_HEADERS + 1
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = timeouts.silenceTimeoutMs
  server.on('clientError', onClientError)
  server.on('connect', (_incoming, socket) => refuseSocket(socket, 'method_not_allowed'))
  server.on('checkContinue', listener)
  server.on('checkExpectation', (_incoming, { socket }: ServerResponse) => {
    if (socket) refuseSocket(socket, 'expectation_failed')
  })
  return server
}

/** Serves a service over HTTP, and its metrics on a port of their own. */
export const listen = async (service: Service, options: ListenOptions): Promise<Listening> => {
  const { host, port, metricsPort, drainMs } = options
  await using stack = new AsyncDisposableStack()
  stack.use(service.load.watch())
  const metrics = stack.use(await listenMetrics(service.metrics.registry, host, metricsPort))
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const unread = unreadAnswers({
    timeoutMs: timeouts.requestTimeoutMs,
    graceMs: timeouts.unreadGraceMs,
    maxBytes: MAX_UNREAD_BYTES,
  })
  const cutting = setInterval(() => unread.cut(), timeouts.checkIntervalMs).unref()
  stack.defer(() => clearInterval(cutting))
  const server = createHttpServer(requestListener(service, unread.watch), timeouts)
  const url = await openServer(server, host, port)
  stack.defer(async () => await drainServer(server, service, drainMs))
  service.log.info({ host, port: Number(new URL(url).port) }, 'listening')
  const owned = stack.move()
  return { url, metricsUrl: metrics.url, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const requestListener = (service: Service, onAnswered: (outgoing: ServerResponse) => void): Listener => {
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      service.fetch(request, { incoming: incoming as IncomingMessage, outgoing: outgoing as ServerResponse }),
    { hostname: 'localhost', errorHandler: unreadableResponse },
  )
  return (incoming, outgoing) => {
    if (!service.turnAway(incoming, outgoing)) void listener(incoming, outgoing).then(() => onAnswered(outgoing))
  }
}
