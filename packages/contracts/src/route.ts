import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi'
import type { ErrorCode } from './errors.ts'
import { problemResponses } from './problem-responses.ts'
import type { Scope } from './scopes.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

type Schema = z.ZodType | undefined

/** What a route may leave out: `undefined` schemas mean the operation has no such part. */
export type RouteSpec<Params extends Schema, Query extends Schema, Body extends Schema, Ok extends Schema> = {
  tag: string
  summary: string
  description?: string
  /** The scope a key needs; `null` for operations that authenticate by other means. */
  scope: Scope | null
  /** Its schema refuses what no object can be named: an answer of 404. */
  params?: Params
  query?: Query
  body?: Body
  /** The schema of the 200 answer; left out, the operation answers 204. */
  ok?: Ok
  /** What the 200 answer is, in a few words. */
  okDescription?: string
  /** The problems of its own, beside those every operation can answer with. */
  errors?: readonly ErrorCode[]
  /** The largest accepted body in bytes. */
  bodyLimitBytes?: number
  /** Whether the answer carries the entity tag of the object, and changes of it can be bound to one. */
  entityTag?: true
  /** Whether the operation is an addition to the API family that clients know. */
  extension?: true
}

/** The largest body of an operation that does not say otherwise: 1 MiB. */
export const BODY_LIMIT_BYTES = 1_048_576

/** Problems any authenticated operation can answer with, beside its own. */
const ALWAYS = [
  'malformed_request',
  'unauthenticated',
  'missing_scope',
  'account_mismatch',
  'invalid_request',
  'rate_limited',
  'internal',
  'unavailable',
] as const satisfies ErrorCode[]
const WITH_PARAMS = ['not_found'] as const satisfies ErrorCode[]
const WITH_BODY = [
  'malformed_json',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies ErrorCode[]
const REPEATABLE = ['request_in_progress', 'idempotency_key_reused'] as const satisfies ErrorCode[]

const CONDITIONAL = ['precondition_failed'] as const satisfies ErrorCode[]

/** Whether an operation takes an `Idempotency-Key`. */
export const isRepeatable = (method: string): boolean => method === 'post' || method === 'patch'

/** Whether an operation changes one object, and so heeds `If-Match`. */
export const isConditional = (method: string): boolean => method === 'patch' || method === 'delete'

const jsonContent = <S>(schema: S) => ({ content: { 'application/json': { schema } } })

/** A declared operation: what OpenAPI needs, and what server and client need beside. */
export type RouteOf<
  Id extends string,
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
  Ok extends Schema,
> = RouteConfig & {
  operationId: Id
  method: Method
  path: string
  /** The path as a router has it: `/spans/:span_id`. */
  getRoutingPath: () => string
  schemas: { params: Params; query: Query; body: Body; ok: Ok }
  scope: Scope | null
  bodyLimitBytes: number
  /** Every problem the operation can answer with. */
  errors: readonly ErrorCode[]
  entityTag: boolean
}

/**
 * Declares an operation: an ordinary `@hono/zod-openapi` route with the always-possible problems added, and its
 * schemas within reach of the server and of the client.
 */
export const route = <
  const Id extends string,
  Params extends Schema = undefined,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
  Ok extends Schema = undefined,
>(
  operationId: Id,
  method: Method,
  path: string,
  spec: RouteSpec<Params, Query, Body, Ok>,
): RouteOf<Id, Params, Query, Body, Ok> => {
  const { tag, summary, description, scope, params, query, body, ok, okDescription = 'OK', extension } = spec
  const { entityTag = false } = spec
  const errors: ErrorCode[] = [
    ...(spec.errors ?? []),
    ...ALWAYS,
    ...(params ? WITH_PARAMS : []),
    ...(body ? WITH_BODY : []),
    ...(isRepeatable(method) ? REPEATABLE : []),
    ...(isConditional(method) ? CONDITIONAL : []),
  ]
  const request: object = {
    ...(params && { params }),
    ...(query && { query }),
    ...(body && { body: { required: true, ...jsonContent(body) } }),
  }
  const config = createRoute({
    operationId,
    method,
    path,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(extension && { 'x-keelson-extension': true }),
    request,
    responses: {
      ...(ok ? { 200: { description: okDescription, ...jsonContent(ok) } } : { 204: { description: 'Done; no body' } }),
      ...(entityTag && method === 'get' && { 304: { description: 'The object is as `If-None-Match` says' } }),
      ...problemResponses(errors),
    },
  })
  return Object.assign(config, {
    operationId,
    schemas: { params, query, body, ok } as RouteOf<Id, Params, Query, Body, Ok>['schemas'],
    scope,
    bodyLimitBytes: spec.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    errors: [...new Set(errors)] as readonly ErrorCode[],
    entityTag,
  })
}

export type Route = RouteOf<string, Schema, Schema, Schema, Schema>

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined

/** What a handler receives, parsed and checked. */
export type RouteInput<R extends Route> = {
  params: Parsed<R['schemas']['params']>
  query: Parsed<R['schemas']['query']>
  body: Parsed<R['schemas']['body']>
}

type Sent<Part extends string, S> = S extends z.ZodType
  ? Partial<z.input<S>> extends z.input<S>
    ? { [Name in Part]?: z.input<S> }
    : { [Name in Part]: z.input<S> }
  : { [Name in Part]?: undefined }

/** What a client sends; a part may be left out when all of it may. */
export type RouteRequest<R extends Route> = Sent<'params', R['schemas']['params']> &
  Sent<'query', R['schemas']['query']> &
  Sent<'body', R['schemas']['body']>

/** What a handler answers and a client receives. */
export type RouteOutput<R extends Route> = Parsed<R['schemas']['ok']>
