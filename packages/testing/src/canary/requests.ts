import type { Route } from '@keelson/contracts'
import type { RawRequest } from '@keelson/contracts/client'

/** A request that must be refused, with a token in the part that is wrong. */
export type Hostile = { fault: string; request: RawRequest }

const json = (text: string): RawRequest => ({ text, headers: { 'content-type': 'application/json' } })

/** Bodies that are wrong in every way a body can be. */
const bodies = ({ bodyLimitBytes }: Route, token: string): [fault: string, request: RawRequest][] => [
  ['malformed', json(`{"name":"${token}","${token}":`)],
  ['repeated', json(`{"${token}":"${token}","${token}":"${token}"}`)],
  ['shape', json(JSON.stringify([{ [token]: token }]))],
  ['nested', json(`{"${token}":${'['.repeat(2000)}"${token}"${']'.repeat(2000)}}`)],
  ['oversized', json(`{"name":"${token}${' '.repeat(bodyLimitBytes)}"}`)],
  ['media', { text: token, headers: { 'content-type': 'text/plain' } }],
]

/**
 * Every way a request to an operation can be refused, from its contract alone, each with a token of its own.
 *
 * @param request a good one
 * @param tokenOf makes the token of a fault
 */
export const hostileRequests = (route: Route, request: RawRequest, tokenOf: (fault: string) => string): Hostile[] => {
  const hostile: Hostile[] = []
  const add = (fault: string, make: (token: string) => RawRequest) =>
    hostile.push({ fault, request: { ...request, ...make(tokenOf(fault)) } })
  add('query', (token) => ({ query: { ...request.query, limit: token, [token]: token } }))
  for (const name of Object.keys(request.params ?? {})) {
    add(`path-${name}`, (token) => ({ params: { ...request.params, [name]: token } }))
  }
  add('key', (token) => ({ headers: { 'x-api-key': token, authorization: `Bearer ${token}` } }))
  if (route.schemas.body === undefined) return hostile
  for (const [fault] of bodies(route, '')) {
    add(fault, (token) => new Map(bodies(route, token)).get(fault) as RawRequest)
  }
  return hostile
}
