import type { IncomingMessage } from 'node:http'

/** As much of a refused body is still taken, and dropped. */
export const DROPPED_BYTES = 67_108_864

/** What is known of the length of a body: nothing of a chunked one. */
const lengthOf = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.NaN

/** Whether a client may still be sending. One that waits for `100 Continue` sends nothing, and what is too much is cut. */
export const isStillSending = (incoming: IncomingMessage): boolean => {
  const { complete, destroyed, headers, readableLength } = incoming
  const length = lengthOf(incoming)
  const isWhole = complete || readableLength >= length
  return !isWhole && !destroyed && headers.expect === undefined && !(length > DROPPED_BYTES)
}

/** Frees what was read, now: left to the collector, the pieces of large bodies are what makes it collect everything. */
export const giveBack = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** So much is dropped at a time, of all bodies together: reading them faster would take the time of those who are served. */
const TURN_BYTES = 1_048_576
const TURN_MS = 25

const dropPace = () => {
  const paused = new Set<IncomingMessage>()
  let left = TURN_BYTES
  let turn: NodeJS.Timeout | null = null
  const begin = (): void => {
    left = TURN_BYTES
    turn = null
    for (const incoming of paused) incoming.resume()
    paused.clear()
  }
  return (incoming: IncomingMessage, bytes: number): void => {
    left -= bytes
    turn ??= setTimeout(begin, TURN_MS)
    if (left < 0) paused.add(incoming.pause())
  }
}

const keepPace = dropPace()

/**
 * Drops what a client sends of its body from now on: a connection that is closed on bytes nobody read is reset, and the
 * answer is lost with it.
 *
 * @param onEnd told once the client has sent all of it, too much, or has gone
 * @returns what gives the dropping up
 */
export const dropBody = (incoming: IncomingMessage, onEnd: () => void): (() => void) => {
  let left = DROPPED_BYTES
  const onData = (chunk: Buffer): void => {
    left -= chunk.length
    keepPace(incoming, chunk.length)
    giveBack(chunk)
    if (left < 0) end()
  }
  const stop = (): void => void incoming.off('data', onData).off('close', end).off('end', end)
  const end = (): void => {
    stop()
    onEnd()
  }
  incoming.on('data', onData).on('end', end).on('close', end).resume()
  return stop
}

/** An answer that goes out at once, and ends when the client has sent the rest of its body. */
export const endingWithBody = (answer: Buffer, incoming: IncomingMessage): ReadableStream<Uint8Array> => {
  let stop = (): void => {}
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(answer)
      stop = dropBody(incoming, () => controller.close())
    },
    cancel: () => stop(),
  })
}
