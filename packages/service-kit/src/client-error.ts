import type { ErrorCode } from '@keelson/contracts'
import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError } from './api-error.ts'
import { problemAnswer } from './problems.ts'

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** The problem of a request that never became one. */
const problemOf = (code: ErrorCode) => {
  const requestId = randomUUID()
  const { status, headers, body } = problemAnswer(new ApiError(code), requestId, '')
  const all = { ...headers, connection: 'close', 'x-content-type-options': 'nosniff', 'x-request-id': requestId }
  return { status, headers: { ...all, 'content-length': String(Buffer.byteLength(body)) }, body }
}

/** The answer to a request whose target or Host makes no URL. */
export const unreadableResponse = (): Response => {
  const { status, headers, body } = problemOf('malformed_request')
  return new Response(body, { status, headers })
}

const rawProblem = (code: ErrorCode): string => {
  const { status, headers, body } = problemOf(code)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}

/** Ends a connection with a problem, or at once where half an answer has gone out already. */
export const refuseSocket = (socket: Duplex & { _httpMessage?: ServerResponse | null }, code: ErrorCode): void => {
  if (!socket.writable || socket._httpMessage?.headersSent) socket.destroy()
  else socket.end(rawProblem(code), () => socket.destroy())
}

/** Answers what Node could not read as a request; on its own, it would answer without a body. */
export const onClientError = (error: Error & { code?: string }, socket: Duplex): void => {
  if (error.code === 'ECONNRESET') socket.destroy()
  else refuseSocket(socket, CODES[error.code ?? ''] ?? 'malformed_request')
}
