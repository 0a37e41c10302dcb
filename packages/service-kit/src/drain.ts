import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from './service.ts'

/** How long a connection between two requests may still bring one, whose answer then closes it. */
const IDLE_GRACE_MS = 250
const POLL_MS = 10

/**
 * Ends a server without losing an accepted request: not ready, no new connections, every answer closes its own, idle
 * ones are closed after a moment, and at the deadline whatever is left.
 */
export const drainServer = async (server: Server, service: Service, drainMs: number): Promise<void> => {
  const deadline = performance.now() + drainMs
  const end = { isReached: false }
  const closed = once(server, 'close')
  server.once('close', () => {
    end.isReached = true
  })
  const until = async (isDone: () => boolean, time: number): Promise<void> => {
    while (!end.isReached && !isDone() && performance.now() < time) await delay(POLL_MS)
  }
  service.drain()
  // http's own close() cuts idle connections at once, also those on which a request is on its way.
  NetServer.prototype.close.call(server)
  await until(() => false, Math.min(deadline, performance.now() + IDLE_GRACE_MS))
  server.close()
  await until(() => service.load.inFlight === 0, deadline)
  const cut = service.load.inFlight
  server.closeAllConnections()
  await closed
  service.log.info({ count: cut }, 'drained')
}
