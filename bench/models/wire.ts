import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { MessageReader } from './messages.ts'

/** What happens at one message: before it arrives, or after it took effect and before its answer arrives. */
export type Trap = {
  isSprungBy: (message: string) => boolean
  when: 'before' | 'after'
  /** Decides whether the message, or its answer, goes on its way after all. */
  spring: () => Promise<'pass' | 'cut'>
}

export type Wire = AsyncDisposable & {
  port: number
  /** The next message that springs it is the only one that does. */
  set: (trap: Trap | null) => void
  /** Cuts every connection. */
  cut: () => void
}

const forward = (
  client: Socket,
  upstream: Socket,
  messages: MessageReader,
  sprungBy: (message: string) => Trap | null,
) => {
  let awaited: Trap | null = null
  const end = () => {
    client.destroy()
    upstream.destroy()
  }
  const hold = async (trap: Trap, release: () => void) => {
    client.pause()
    upstream.pause()
    if ((await trap.spring()) === 'cut') return end()
    release()
    client.resume()
    upstream.resume()
  }
  client.on('data', (chunk) => {
    const trap = messages(chunk).reduce<Trap | null>((found, message) => found ?? sprungBy(message), null)
    if (trap?.when === 'before') void hold(trap, () => upstream.write(chunk))
    else {
      awaited ??= trap
      upstream.write(chunk)
    }
  })
  upstream.on('data', (chunk) => {
    const trap = awaited
    awaited = null
    if (trap !== null) void hold(trap, () => client.write(chunk))
    else client.write(chunk)
  })
  for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
  return end
}

/** A TCP proxy that can stop a client and its server at one message between them. */
export const openWire = async (toPort: number, reader: () => MessageReader): Promise<Wire> => {
  let set: Trap | null = null
  const ends = new Set<() => void>()
  const sprungBy = (message: string): Trap | null => {
    const trap = set
    if (trap === null || !trap.isSprungBy(message)) return null
    set = null
    return trap
  }
  const server = createServer((client) => {
    const upstream = connect(toPort, '127.0.0.1')
    const end = forward(client, upstream, reader(), sprungBy)
    ends.add(end)
    client.once('close', () => ends.delete(end))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => ends.forEach((end) => end())
  return {
    port: (server.address() as AddressInfo).port,
    set: (trap) => void (set = trap),
    cut,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
