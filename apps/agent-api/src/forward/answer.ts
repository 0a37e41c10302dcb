import { ApiError } from '@keelson/service-kit'
import type { AgentAnswer } from './call-agent.ts'

export type AnswerLimits = {
  /** The most bytes of an agent's answer. */
  maxBytes: number
}

/** Answers up to this size are read before they are passed on, so that one that breaks off is a 502. */
const READ_WHOLE_BYTES = 65_536

const NO_BODY = new Set([204, 205, 304])

const isShort = ({ headers }: AgentAnswer): boolean => {
  const length = headers['content-length']
  return typeof length === 'string' && Number(length) <= READ_WHOLE_BYTES
}

const readWhole = async ({ body }: AgentAnswer): Promise<Buffer<ArrayBuffer>> => {
  try {
    return Buffer.from(await body.arrayBuffer())
  } catch (cause) {
    throw new ApiError('agent_unreachable', 'The agent broke its answer off', { cause })
  }
}

/** What to do once nothing more will come. */
export type AnswerEnd = {
  onEnd: () => void
  /** Cuts the client's connection: with half an answer sent, that is the only way left to tell. */
  cut: ((error: unknown) => void) | null
}

/** Passes an answer on piece by piece: the next one is asked for when the one before has left. */
const stream = (
  { body }: AgentAnswer,
  { maxBytes }: AnswerLimits,
  { onEnd, cut }: AnswerEnd,
): ReadableStream<Uint8Array> => {
  const pieces: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { value, done } = await pieces.next()
          if (done) {
            onEnd()
            return controller.close()
          }
          bytes += value.length
          if (bytes > maxBytes) throw new Error('The answer of the agent is too large')
          controller.enqueue(value)
        } catch (error) {
          body.destroy()
          onEnd()
          if (cut) cut(error)
          else controller.error(error)
        }
      },
      cancel: () => {
        body.destroy()
        onEnd()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * The body of an agent's answer, for whoever asked.
 *
 * @throws ApiError `agent_unreachable` when a short answer broke off, or the answer says it is too large
 */
export const answerBody = async (
  answer: AgentAnswer,
  limits: AnswerLimits,
  end: AnswerEnd,
): Promise<Buffer<ArrayBuffer> | ReadableStream<Uint8Array> | null> => {
  if (Number(answer.headers['content-length'] ?? 0) > limits.maxBytes) {
    answer.body.destroy()
    throw new ApiError('agent_unreachable', 'The answer of the agent is too large')
  }
  if (!isShort(answer) && !NO_BODY.has(answer.statusCode)) return stream(answer, limits, end)
  const body = await readWhole(answer)
  end.onEnd()
  return NO_BODY.has(answer.statusCode) ? null : body
}
