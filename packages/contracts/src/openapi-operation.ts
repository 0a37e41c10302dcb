import type { OpenAPIHono } from '@hono/zod-openapi'
import { isConditional, isRepeatable, type Route } from './route.ts'

type RouteConfig = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]

/** What a route of ours has beside; one made elsewhere has none of it. */
type Extras = Partial<Pick<Route, 'schemas' | 'scope' | 'bodyLimitBytes' | 'errors' | 'entityTag'>>

const text = { type: 'string' } as const

/** Request headers that operations have in common; without examples, which `/docs` would send. */
export const sharedParameters = {
  RequestId: {
    name: 'x-request-id',
    in: 'header',
    description: "The caller's id of the request, answered and logged; left out, one is made",
    schema: { ...text, maxLength: 128 },
  },
  TraceParent: {
    name: 'traceparent',
    in: 'header',
    description: 'W3C trace context, passed on',
    schema: text,
  },
  SelectedAccountId: {
    name: 'x-selected-account-id',
    in: 'header',
    description: "When given, it must name the key's own account",
    schema: text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a repetition safe: for 24 hours the same key and body get the stored answer',
    schema: { ...text, minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'Entity tags, or `*`: nothing is changed unless the object has one of them; of one that is answered without `ETag` only `*` holds',
    schema: text,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Entity tags: an object that still has one of them is answered with 304',
    schema: text,
  },
} as const

/** Response headers that operations have in common. */
export const sharedHeaders = {
  RequestId: { description: 'The id of the request, also in every log line about it', schema: text },
  ETag: { description: 'The entity tag of the object, for `If-Match` and `If-None-Match`', schema: text },
} as const

const reference = (kind: 'parameters' | 'headers', name: string) => ({ $ref: `#/components/${kind}/${name}` })

type Headers = Record<string, object>

const headersOf = (response: object): Headers => ('headers' in response ? (response.headers as Headers) : {})

const withHeaders = ({ responses, entityTag, method }: RouteConfig & Extras): RouteConfig['responses'] => {
  const isTagged = (status: string) => entityTag && method !== 'delete' && (status === '200' || status === '304')
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const common = {
        'x-request-id': reference('headers', 'RequestId'),
        ...(isTagged(status) && { etag: reference('headers', 'ETag') }),
      }
      return [status, { ...response, headers: { ...headersOf(response), ...common } }]
    }),
  )
}

/** The scope and the limit of a route, in OpenAPI. */
const requirementsOf = (route: RouteConfig & Extras, keySchemes: readonly string[]) => {
  const { scope, schemas, bodyLimitBytes } = route
  return {
    ...(scope && { security: keySchemes.map((scheme) => ({ [scheme]: [scope] })) }),
    ...(schemas?.body && { 'x-body-limit-bytes': bodyLimitBytes }),
  }
}

/** A route as a document shows it: without what only server and client need, with the headers all have in common. */
export const documentedOperation = (route: RouteConfig & Extras, keySchemes: readonly string[]): RouteConfig => {
  const { schemas: _schemas, scope, bodyLimitBytes: _limit, errors: _errors, entityTag, ...operation } = route
  const isKeyed = scope !== undefined && scope !== null
  const parameters = [
    'RequestId',
    'TraceParent',
    ...(isKeyed ? ['SelectedAccountId'] : []),
    ...(isKeyed && isRepeatable(route.method) ? ['IdempotencyKey'] : []),
    ...(isKeyed && isConditional(route.method) ? ['IfMatch'] : []),
    ...(entityTag && route.method === 'get' ? ['IfNoneMatch'] : []),
  ]
  return {
    ...operation,
    ...requirementsOf(route, keySchemes),
    parameters: parameters.map((name) => reference('parameters', name)),
    responses: withHeaders(route),
  }
}
