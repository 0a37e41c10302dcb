import { createServer } from 'node:net'

/** Binds a port of 127.0.0.1 and lets it go again. Rejects with EADDRINUSE. */
const bindOnce = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve()))
  })

/** Whether a TCP port of 127.0.0.1 can be bound now. */
export const isPortFree = (port: number) =>
  bindOnce(port).then(
    () => true,
    () => false,
  )

const COUNT = 10_000
let next = Math.floor(Math.random() * COUNT)

/**
 * A TCP port of 127.0.0.1 that nobody listens on now. It is below those that systems hand out to connections, which
 * might take it before it is bound, and nobody is given the one a thousand above, where a service has its metrics.
 */
export const freePort = async (): Promise<number> => {
  const index = next++ % COUNT
  const port = 10_000 + index + 1_000 * Math.floor(index / 1_000)
  return (await isPortFree(port)) ? port : freePort()
}
