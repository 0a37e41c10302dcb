import type { IncomingMessage } from 'node:http'

/**
 * Where a request came from: the peer of the socket or, behind `proxyHops` proxies of our own, what the outermost of
 * them saw. What stands further left in `X-Forwarded-For` anybody may have written.
 *
 * @returns `undefined` in memory, and where the header holds fewer addresses than there are proxies
 */
export const clientAddress = (incoming: IncomingMessage | undefined, proxyHops: number): string | undefined => {
  if (!incoming || proxyHops === 0) return incoming?.socket.remoteAddress
  const forwarded = incoming.headers['x-forwarded-for']
  return [forwarded ?? []].flat().join(',').split(',').at(-proxyHops)?.trim() || undefined
}
