import type { Readable } from 'node:stream'
import { ApiError } from '@keelson/service-kit'
import { errors, request, type Dispatcher } from 'undici'
import type { AgentNetwork } from '../agents/agent-network.ts'
import type { HeaderFields } from './forwarded-headers.ts'

export type AgentCall = {
  url: URL
  method: 'GET' | 'HEAD' | 'POST'
  headers: HeaderFields
  body: Buffer | Readable | null
  /** Aborts the call: whoever asked is gone. */
  signal: AbortSignal
}

export type AgentAnswer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>

const isEmpty = (body: AgentCall['body']): boolean => Buffer.isBuffer(body) && body.length === 0

const unreachable = (detail: string, cause?: unknown) => new ApiError('agent_unreachable', detail, { cause })

const failureOf = (error: unknown): unknown => {
  if (error instanceof ApiError) return error
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return new ApiError('agent_timeout', 'The agent did not answer in time', { cause: error })
  }
  return unreachable('The agent could not be reached', error)
}

/**
 * Calls an agent and resolves with the beginning of its answer. Nothing is tried again and no redirect is followed.
 *
 * @throws ApiError `agent_unreachable`, `agent_timeout`; the signal's reason when that fired
 */
export const callAgent = async (network: AgentNetwork, call: AgentCall): Promise<AgentAnswer> => {
  const { url, method, headers, body, signal } = call
  if (network.isRefused(url)) throw unreachable('The agent has an address that may not be called')
  const options = { dispatcher: network.dispatcher, method, headers, signal, body: isEmpty(body) ? null : body }
  const answer = await request(url, options).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : failureOf(error)
  })
  // A body that is given up fails for its readers; without one, it would take the process with it.
  answer.body.on('error', () => {})
  if (answer.statusCode < 300 || answer.statusCode >= 400) return answer
  answer.body.destroy()
  throw unreachable('The agent answered with a redirect, which is not followed')
}
