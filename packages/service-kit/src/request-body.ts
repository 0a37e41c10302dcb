import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ApiError } from './api-error.ts'
import type { RequestFacts } from './request-facts.ts'
import { DROPPED_BYTES, giveBack } from './unread-body.ts'

const tooLarge = (limitBytes: number, isCut: boolean): ApiError => {
  const headers = isCut ? { connection: 'close' } : {}
  return new ApiError('payload_too_large', `The body is larger than ${limitBytes} bytes`, { headers })
}

const cutShort = (): ApiError => new ApiError('malformed_request', 'The body ended before it was complete')

type Take = (chunk: Uint8Array) => void

/** Straight from the socket's stream: a web stream in between costs more than reading the body. */
const readIncoming = (incoming: IncomingMessage, take: Take): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      act()
    }
    const onData = (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        settle(() => reject(error))
        incoming.resume()
      }
    }
    const onEnd = () => settle(resolve)
    const onGone = () => settle(() => reject(cutShort()))
    if (incoming.destroyed && !incoming.readableEnded) return reject(cutShort())
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })

const readStream = async (stream: AsyncIterable<Uint8Array>, take: Take): Promise<void> => {
  for await (const chunk of stream) take(chunk)
}

async function* limited(stream: AsyncIterable<Uint8Array>, limitBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limitBytes) throw tooLarge(limitBytes, true)
    yield chunk
  }
}

/** Tells a client that asked with `Expect: 100-continue` to send its body. */
const acceptBody = ({ incoming, outgoing }: RequestFacts): void => {
  if (incoming?.headers.expect !== undefined) outgoing?.writeContinue()
}

/** The declared length of a body, by which it is refused before the client is asked for it. */
const declaredLength = ({ received }: RequestFacts, limitBytes: number): number => {
  const declared = Number(received.get('content-length') ?? 0)
  if (declared > limitBytes) throw tooLarge(limitBytes, declared > DROPPED_BYTES)
  return declared
}

/** Larger bodies have their place from the start; smaller ones mostly come in one piece. */
const PIECE_BYTES = 65_536

/**
 * Puts the pieces of a body together.
 *
 * @param declared the length that the parser holds the body to, in bytes; 0 when there is none
 */
const bodyOf = (declared: number) => {
  const place = declared > PIECE_BYTES ? Buffer.allocUnsafeSlow(declared) : null
  const pieces: Uint8Array[] = []
  return {
    add: (piece: Uint8Array, at: number): void => {
      if (place === null) return void pieces.push(piece)
      place.set(piece, at)
      giveBack(piece)
    },
    whole: (): Buffer => {
      if (place !== null) return place
      if (pieces.length === 1 && pieces[0] instanceof Buffer) return pieces[0]
      const joined = Buffer.concat(pieces)
      pieces.forEach(giveBack)
      return joined
    },
  }
}

/**
 * Reads a whole body. By its declared length it is refused before, and finds its room; by its real length while it
 * arrives.
 *
 * @param onBytes told of every piece before it is kept; throwing refuses the body
 * @throws ApiError `payload_too_large`, `unavailable` when the bodies in flight leave no room, or `malformed_request`
 * when the client went away; whatever `onBytes` throws
 */
export const readBody = async (
  request: Request,
  facts: RequestFacts,
  limitBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> => {
  const { incoming, bodies } = facts
  // Strangers could hold room by declarations alone, so routes without a principal bound what they read themselves.
  const hold = (bytes: number) => {
    if (facts.principal && bytes > facts.bodyBytes) bodies.hold(facts, bytes - facts.bodyBytes)
  }
  const declared = declaredLength(facts, limitBytes)
  hold(declared)
  acceptBody(facts)
  const body = bodyOf(incoming && facts.principal ? declared : 0)
  let bytes = 0
  const take = (chunk: Uint8Array): void => {
    const at = bytes
    bytes += chunk.length
    if (bytes > limitBytes) throw tooLarge(limitBytes, true)
    hold(bytes)
    onBytes?.(chunk.length)
    body.add(chunk, at)
  }
  if (incoming) await readIncoming(incoming, take)
  else if (request.body) await readStream(request.body as AsyncIterable<Uint8Array>, take)
  return body.whole()
}

/**
 * A body while it arrives, no faster than it is read. It fails with `payload_too_large` once it is longer than allowed.
 *
 * @throws ApiError `payload_too_large` for the declared length
 */
export const streamBody = (request: Request, facts: RequestFacts, limitBytes: number): Readable => {
  declaredLength(facts, limitBytes)
  acceptBody(facts)
  // Whoever stops reading early still owes the client an answer, so the socket stays.
  const source = facts.incoming?.iterator({ destroyOnReturn: false }) ?? request.body ?? []
  return Readable.from(limited(source as AsyncIterable<Uint8Array>, limitBytes), { objectMode: false })
}
