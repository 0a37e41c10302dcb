import { createServer, connect, type Socket } from 'node:net'

/** A TCP proxy that brings every byte `delayMs` later, each way: a network for the loopback. */
export const delayedProxy = async (port: number, delayMs: number) => {
  const sockets = new Set<Socket>()
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs))
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
  }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    pass(client, upstream)
    pass(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  return {
    port: address.port,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
