import { createServer } from 'node:net'

/** Resolves with the port that was bound on 127.0.0.1 and let go again; 0 asks for any free one. Rejects with EADDRINUSE. */
const bindOnce = (port: number) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })

/** A TCP port of 127.0.0.1 that nobody listens on now. */
export const freePort = () => bindOnce(0)

/** Whether a TCP port of 127.0.0.1 can be bound now. */
export const isPortFree = (port: number) =>
  bindOnce(port).then(
    () => true,
    () => false,
  )
