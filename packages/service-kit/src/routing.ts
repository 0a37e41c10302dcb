import { type Context, Hono } from 'hono'
import type { RequestFacts } from './request-facts.ts'

export type RawContext = Context<{ Bindings: RequestFacts }>
export type RouteHandler = (c: RawContext) => Response | Promise<Response>
export type Mount = {
  method: string
  path: string
  handler: RouteHandler
  /** For logs and metrics, when not the path. */ label?: string
}
export type Router = Hono<{ Bindings: RequestFacts }>

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Sorts fixed segments before parameters, so that no route hides another whatever the order of mounting. */
const specificity = ({ path }: Mount): string => path.replaceAll(/[:*][^/]*/g, '\u{ffff}')

/** Hono over the paths as they were received: a parameter is decoded once, by whoever reads it, and strictly. */
export const createRouter = (mounts: readonly Mount[]): Router => {
  const app: Router = new Hono({ getPath: (_request, options) => options?.env?.path ?? '/' })
  const sorted = mounts.toSorted((one, other) => (specificity(one) < specificity(other) ? -1 : 1))
  for (const { method, path, handler, label = path } of sorted) {
    app.on(method.toUpperCase(), path, (c) => {
      c.env.route = label
      return handler(c)
    })
  }
  return app
}

/** The methods a path has; empty for an unknown path. */
export const allowedMethods = ({ router }: Router, path: string): string[] => {
  const known = METHODS.filter((method) => router.match(method, path)[0].length > 0)
  if (known.length === 0) return []
  return [...known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS']
}
