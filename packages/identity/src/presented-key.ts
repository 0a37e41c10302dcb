import type { HeaderReader } from '@keelson/service-kit'

/** Where a service looks for the key: `authorization` takes `Bearer`, and `x-agent-api-key` for clients that send only that. */
export type KeyHeader = 'x-api-key' | 'authorization'

const BEARER = /^bearer +([!-~]+)$/i

const fromAuthorization = (headers: HeaderReader): string | null => {
  const authorization = headers.get('authorization')
  const agentKey = headers.get('x-agent-api-key')
  if (authorization === null) return agentKey
  const bearer = BEARER.exec(authorization)?.[1] ?? ''
  return agentKey === null || agentKey === bearer ? bearer : ''
}

/**
 * The key a request presents: `null` when it presents none, and something that is no key when it presents several. A
 * header sent twice arrives joined by a comma, which no key holds.
 */
export const presentedKey = (headers: HeaderReader, header: KeyHeader): string | null =>
  header === 'x-api-key' ? headers.get('x-api-key') : fromAuthorization(headers)
