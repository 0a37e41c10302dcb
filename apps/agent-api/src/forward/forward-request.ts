import type { Readable } from 'node:stream'
import { uuidv7, type Logger, type RawAnswer, type RawContext, type Tracer } from '@keelson/service-kit'
import type { AgentNetwork } from '../agents/agent-network.ts'
import { agentSpan } from './agent-span.ts'
import { answerBody } from './answer.ts'
import { callAgent } from './call-agent.ts'
import { deadline } from './deadline.ts'
import { agentUrl } from './forward-path.ts'
import { answeredHeaders, hopHeaders, passedHeaders, receivedHeaders } from './forwarded-headers.ts'
import type { WebhookKey } from './keyring.ts'

export type ForwardLimits = {
  /** From the call to the last byte of the answer. */
  totalMs: number
  /** The most bytes of an answer. */
  maxBytes: number
}

export const FORWARD_LIMITS: ForwardLimits = { totalMs: 300_000, maxBytes: 104_857_600 }

export type Forwarded = { key: WebhookKey; path: string; query: string; body: Buffer | Readable }

/** The id is signed, so that nobody passes the signature of an empty body, as every GET has one, off as a stream's. */
const streamId = (): string => `stream_${uuidv7()}`

type ForwardDeps = { network: AgentNetwork; limits: ForwardLimits; log: Logger; tracer?: Tracer | null }

/**
 * Hands a verified request to its agent and passes the answer on while it comes.
 *
 * @throws ApiError `agent_unreachable`, `agent_timeout`
 */
export const forwardRequest = async (
  { network, limits, log, tracer }: ForwardDeps,
  c: RawContext,
  { key, path, query, body }: Forwarded,
): Promise<RawAnswer> => {
  const { raw } = c.req
  const { requestId, traceparent, outgoing } = c.env
  const span = agentSpan(tracer, traceparent, key.source)
  const nowSeconds = Math.floor(Date.now() / 1000)
  const signed = Buffer.isBuffer(body) ? body : null
  const id = signed === null ? streamId() : uuidv7()
  const hop = hopHeaders({ key, id, attempt: 1, body: signed, requestId, traceparent, nowSeconds })
  const { signal, clear } = deadline(limits.totalMs, raw, c.env)
  const cut = outgoing
    ? (err: unknown) => {
        if (!outgoing.destroyed) log.warn({ request_id: requestId, err }, 'the answer of an agent broke off')
        outgoing.destroy()
      }
    : null
  try {
    const answer = await span.around(() =>
      callAgent(network, {
        url: agentUrl(key.acp_url, path, query),
        method: raw.method as 'GET' | 'HEAD' | 'POST',
        headers: { ...passedHeaders(receivedHeaders(c), key.source), ...hop, ...span.headers },
        body,
        signal,
      }),
    )
    return {
      status: answer.statusCode,
      headers: answeredHeaders(answer.headers, key.source),
      body: await answerBody(answer, limits, { onEnd: clear, cut }),
    }
  } catch (error) {
    clear()
    throw error
  }
}
