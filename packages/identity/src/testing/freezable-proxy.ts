import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Stands in front of Postgres and can cut connections off without closing them, as a failing network does. */
export const freezableProxy = async (databaseUrl: string) => {
  const { hostname, port } = new URL(databaseUrl)
  const sockets: Socket[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    sockets.push(client, upstream)
    client.pipe(upstream).on('error', () => client.destroy())
    upstream.pipe(client).on('error', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(own) }).href,
    /** Takes note of the connections open now; calling what it returns freezes these and no later ones. */
    freezer: () => {
      const noted = [...sockets]
      return () => {
        for (const socket of noted) socket.unpipe().pause()
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
