import type { Route } from '@keelson/contracts'
import { type RawAnswer, rawResponse } from './answer.ts'
import { type HandleOptions, type Handler, operation, type OperationContext } from './operation.ts'
import { createRouter, type Mount, type RawContext, type RouteHandler, type Router } from './routing.ts'

export type RawHandler = (c: RawContext) => RawAnswer | Promise<RawAnswer>

export type RawOptions = {
  /** The operation of the document that this is, so that the document keeps it. */
  operationId?: string
}

export type RouteTable = {
  /** Mounts an operation: authentication, scope, limits, validation and problems are done around the handler. */
  handle: <R extends Route>(route: R, handler: Handler<R>, options?: HandleOptions<R>) => void
  /** Mounts a route that speaks for itself: no API key, no JSON. `c.env` holds the facts of the request. */
  raw: (method: string, path: string, handler: RawHandler, options?: RawOptions) => void
}

/** What is mounted, until the first request closes the table. */
export const routeTable = (context: OperationContext) => {
  const mounts: Mount[] = []
  const operationIds = new Set<string>()
  let router: Router | null = null

  const mount = (one: Mount, operationId?: string): void => {
    if (router) throw new Error(`${one.method} ${one.path} is mounted after the first request`)
    mounts.push(one)
    if (operationId) operationIds.add(operationId)
  }

  const table: RouteTable = {
    handle: (route, handle, options = {}) => {
      const run = operation(route, handle, options, context)
      const handler: RouteHandler = (c) => run(c.req.raw, c.env)
      mount({ method: route.method, path: route.getRoutingPath(), handler, label: route.path }, route.operationId)
    },
    raw: (method, path, handler, { operationId } = {}) => {
      const handle: RouteHandler = async (c) => rawResponse(c.env, await handler(c))
      mount({ method, path, handler: handle }, operationId)
    },
  }

  return {
    ...table,
    mount,
    operationIds,
    /** The router over everything mounted; made by the first request. */
    router: (): Router => (router ??= createRouter(mounts)),
  }
}
