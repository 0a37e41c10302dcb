import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ApiError } from './api-error.ts'
import type { RequestFacts } from './request-facts.ts'

/** As much of a refused body is still taken, and dropped: a connection that is cut loses the answer with it. */
const DROPPED_BYTES = 67_108_864

const tooLarge = (limitBytes: number, isCut: boolean): ApiError => {
  const headers = isCut ? { connection: 'close' } : {}
  return new ApiError('payload_too_large', `The body is larger than ${limitBytes} bytes`, { headers })
}

/** Told of every piece before it is kept; throwing refuses the body. */
type OnBytes = ((bytes: number) => void) | undefined

const cutShort = (): ApiError => new ApiError('malformed_request', 'The body ended before it was complete')

/** Straight from the socket's stream: a web stream in between costs more than reading the body. */
const readIncoming = (incoming: IncomingMessage, limitBytes: number, onBytes: OnBytes): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const settle = (act: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      act()
    }
    const onData = (chunk: Buffer) => {
      try {
        bytes += chunk.length
        if (bytes > limitBytes) throw tooLarge(limitBytes, !incoming.headers['content-length'])
        onBytes?.(chunk.length)
        chunks.push(chunk)
      } catch (error) {
        settle(() => reject(error))
        incoming.resume()
      }
    }
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)))
    const onGone = () => settle(() => reject(cutShort()))
    if (incoming.destroyed && !incoming.readableEnded) return reject(cutShort())
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })

async function* limited(stream: AsyncIterable<Uint8Array>, limitBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limitBytes) throw tooLarge(limitBytes, true)
    yield chunk
  }
}

const readStream = async (stream: AsyncIterable<Uint8Array>, limitBytes: number, onBytes: OnBytes): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of limited(stream, limitBytes)) {
    onBytes?.(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Tells a client that asked with `Expect: 100-continue` to send its body. */
const acceptBody = ({ incoming, outgoing }: RequestFacts): void => {
  if (incoming?.headers.expect !== undefined) outgoing?.writeContinue()
}

/** Refuses a body by its declared length, before the client is asked for it. */
const askForBody = (request: Request, facts: RequestFacts, limitBytes: number): void => {
  const declared = request.headers.get('content-length')
  if (Number(declared ?? 0) > limitBytes) throw tooLarge(limitBytes, Number(declared) > DROPPED_BYTES)
  acceptBody(facts)
}

/**
 * Reads a whole body: by its declared length it is refused before, by its real length while it arrives.
 *
 * @throws ApiError `payload_too_large`, or `malformed_request` when the client went away; whatever `onBytes` throws
 */
export const readBody = async (
  request: Request,
  facts: RequestFacts,
  limitBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> => {
  askForBody(request, facts, limitBytes)
  if (facts.incoming) return await readIncoming(facts.incoming, limitBytes, onBytes)
  return request.body ? await readStream(request.body, limitBytes, onBytes) : Buffer.alloc(0)
}

/**
 * A body while it arrives, no faster than it is read. It fails with `payload_too_large` once it is longer than allowed.
 *
 * @throws ApiError `payload_too_large` for the declared length
 */
export const streamBody = (request: Request, facts: RequestFacts, limitBytes: number): Readable => {
  askForBody(request, facts, limitBytes)
  // Whoever stops reading early still owes the client an answer, so the socket stays.
  const source = facts.incoming?.iterator({ destroyOnReturn: false }) ?? request.body ?? []
  return Readable.from(limited(source as AsyncIterable<Uint8Array>, limitBytes), { objectMode: false })
}
