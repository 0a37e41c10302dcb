import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts a server.
 *
 * @param port 0 for any free one
 * @returns its URL
 */
export const openServer = async (server: Server, host: string, port: number): Promise<string> => {
  server.listen({ host, port })
  await once(server, 'listening')
  const { address, family, port: bound } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
}

/** Closes a server and every connection it has. */
export const closeServer = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
