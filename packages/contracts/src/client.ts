import { readAnswer, type RawAnswer } from './client-answer.ts'
import { writeJson } from './json-text.ts'
import type { Route, RouteOutput, RouteRequest } from './route.ts'

export { ContractError, ProblemError, type RawAnswer } from './client-answer.ts'

type Extra = { headers?: HeadersInit; signal?: AbortSignal }
type Scalar = string | number | boolean

/** A request without checks: `text` is a body sent as it is. */
export type RawRequest = Extra & {
  params?: Record<string, Scalar> | undefined
  query?: Record<string, Scalar | readonly Scalar[] | undefined> | undefined
  body?: unknown
  text?: string
}

export type ClientOptions = {
  /** Where the service is; a path in it is kept. */
  baseUrl?: string
  /** What sends a request: `fetch`, or a service in memory. */
  fetch?: (request: Request) => Promise<Response> | Response
  /** Headers of every request. */
  headers?: HeadersInit
}

type Arguments<Sent> = Partial<Sent> extends Sent ? [request?: Sent & Extra] : [request: Sent & Extra]
type Operation<R extends Route> = (...request: Arguments<RouteRequest<R>>) => Promise<RouteOutput<R>>

export type Client<R extends Route> = { [Id in R['operationId']]: Operation<Extract<R, { operationId: Id }>> } & {
  raw: (route: Pick<Route, 'method' | 'path'>, request?: RawRequest) => Promise<RawAnswer>
}

const pathOf = (path: string, params: NonNullable<RawRequest['params']> = {}): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

const queryOf = (query: NonNullable<RawRequest['query']> = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) search.append(name, String(one))
  }
  return search.size === 0 ? '' : `?${search.toString()}`
}

/**
 * A client of these routes, over HTTP or in memory: `client.getSpan({ params: { span_id } })`. Requests are typed, not
 * checked; a `JsonText` in a body is sent as its own text; every answer is checked against the contract.
 *
 * @throws ProblemError from an operation, for a problem that the contract declares
 * @throws ContractError from an operation, for any other answer that is not as declared
 */
export const createClient = <R extends Route>(routes: readonly R[], options: ClientOptions): Client<R> => {
  const { baseUrl = 'http://keelson.local', fetch = globalThis.fetch } = options

  const raw = async (
    { method, path }: Pick<Route, 'method' | 'path'>,
    request: RawRequest = {},
  ): Promise<RawAnswer> => {
    const { params, query, body, text = body === undefined ? undefined : writeJson(body), signal } = request
    const headers = new Headers(options.headers)
    if (text !== undefined) headers.set('content-type', 'application/json')
    for (const [name, value] of new Headers(request.headers)) headers.set(name, value)
    const url = baseUrl.replace(/\/$/, '') + pathOf(path, params) + queryOf(query)
    const init = {
      method: method.toUpperCase(),
      headers,
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    }
    const response = await fetch(new Request(url, init))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  const calls = routes.map((route) => [
    route.operationId,
    async (request?: RawRequest) => readAnswer(route, await raw(route, request)),
  ])
  return { ...Object.fromEntries(calls), raw } as Client<R>
}
