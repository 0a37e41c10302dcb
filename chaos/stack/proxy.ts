import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What a link does to every byte that crosses it, both ways. */
export type Toxic =
  | { kind: 'latency'; ms: number }
  /** Small pieces with pauses between, so that nobody reads a message whole. */
  | { kind: 'slicing'; bytes: number; pauseMs: number }
  /** Nothing arrives, and nobody is told; it does when the toxic is taken away. */
  | { kind: 'black hole' }

const MAX_SLICES = 200

/** Pieces of at least `bytes`, few enough that a large message ends some time. */
const slices = (chunk: Buffer, bytes: number): Buffer[] => {
  const size = Math.max(bytes, Math.ceil(chunk.length / MAX_SLICES))
  return Array.from({ length: Math.ceil(chunk.length / size) }, (_, index) =>
    chunk.subarray(index * size, (index + 1) * size),
  )
}

const write = async (to: Socket, piece: Buffer): Promise<void> => {
  if (to.writable && !to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')])
}

/**
 * A TCP proxy before one port of 127.0.0.1 that can slow, slice, hold and cut what passes. A connection that is closed
 * on one side is closed on the other after everything before it has passed.
 */
export const startProxy = async (targetPort: number) => {
  const sockets = new Set<Socket>()
  let toxic: Toxic | null = null
  let healed = Promise.withResolvers<void>()

  const isHeld = () => toxic?.kind === 'black hole'

  const pass = async (to: Socket, chunk: Buffer): Promise<void> => {
    while (isHeld()) await healed.promise
    if (toxic?.kind === 'latency') await delay(toxic.ms)
    if (toxic?.kind !== 'slicing') return write(to, chunk)
    const { bytes, pauseMs } = toxic
    for (const slice of slices(chunk, bytes)) {
      await write(to, slice)
      if (toxic?.kind === 'slicing') await delay(pauseMs)
    }
  }

  const flow = async (from: Socket, to: Socket): Promise<void> => {
    try {
      for await (const chunk of from) await pass(to, chunk as Buffer)
      await pass(to, Buffer.alloc(0))
      to.end()
    } catch {
      to.destroy()
    }
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => sockets.delete(from))
      void flow(from, to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    port,
    /** @param next `null` lets everything pass again, what was held included */
    set: (next: Toxic | null): void => {
      toxic = next
      healed.resolve()
      healed = Promise.withResolvers()
    },
    /** Cuts every connection with a reset. */
    reset: (): void => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
