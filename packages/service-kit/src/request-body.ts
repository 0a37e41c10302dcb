import type { IncomingMessage } from 'node:http'
import { ApiError } from './api-error.ts'
import type { RequestFacts } from './request-facts.ts'

/** As much of a refused body is still taken, and dropped: a connection that is cut loses the answer with it. */
const DROPPED_BYTES = 67_108_864

const tooLarge = (limitBytes: number, isCut: boolean): ApiError => {
  const headers = isCut ? { connection: 'close' } : {}
  return new ApiError('payload_too_large', `The body is larger than ${limitBytes} bytes`, { headers })
}

const cutShort = (): ApiError => new ApiError('malformed_request', 'The body ended before it was complete')

/** Straight from the socket's stream: a web stream in between costs more than reading the body. */
const readIncoming = (incoming: IncomingMessage, limitBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (act: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      act()
    }
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes <= limitBytes) return
      settle(() => reject(tooLarge(limitBytes, !incoming.headers['content-length'])))
      incoming.resume()
    }
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)))
    const onGone = () => settle(() => reject(cutShort()))
    if (incoming.destroyed && !incoming.readableEnded) return reject(cutShort())
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })

const readStream = async (stream: ReadableStream<Uint8Array>, limitBytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limitBytes) throw tooLarge(limitBytes, true)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

/** Tells a client that asked with `Expect: 100-continue` to send its body. */
export const acceptBody = ({ incoming, outgoing }: RequestFacts): void => {
  if (incoming?.headers.expect !== undefined) outgoing?.writeContinue()
}

/**
 * Reads a whole body: by its declared length it is refused before, by its real length while it arrives.
 *
 * @throws ApiError `payload_too_large`, or `malformed_request` when the client went away
 */
export const readBody = async (request: Request, facts: RequestFacts, limitBytes: number): Promise<Buffer> => {
  const declared = request.headers.get('content-length')
  if (Number(declared ?? 0) > limitBytes) throw tooLarge(limitBytes, Number(declared) > DROPPED_BYTES)
  acceptBody(facts)
  if (facts.incoming) return await readIncoming(facts.incoming, limitBytes)
  return request.body ? await readStream(request.body, limitBytes) : Buffer.alloc(0)
}
