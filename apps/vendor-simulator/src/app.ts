import { Hono } from 'hono'
import type { Control } from './control/control.ts'
import { controlRoutes } from './control/routes.ts'
import { inferenceRoutes } from './inference/routes.ts'
import { llmRoutes } from './llm/routes.ts'
import { bundleRoutes } from './model-bundles/routes.ts'
import { endpointRoutes } from './model-endpoints/routes.ts'
import { OPERATIONS } from './operations.ts'
import type { World } from './world.ts'

const HEALTH_PATHS = ['/healthz', '/readyz', '/healthcheck']

const matchesRoute = (route: string, path: string): boolean => {
  const wanted = route.split('/')
  const given = path.split('/')
  return wanted.length === given.length && wanted.every((part, at) => part.startsWith(':') || part === given[at])
}

const allowedAt = (path: string): string[] =>
  Object.values(OPERATIONS)
    .filter(([, route]) => matchesRoute(route, path))
    .map(([method]) => method)

/** The vendor's server, both vendors' routes on one address, and the control API beside them. */
export const createApp = (world: World, control: Control): Hono => {
  const app = new Hono()
  for (const path of HEALTH_PATHS) app.get(path, (c) => c.json({ status: 'ok' }))
  app.route('/__sim', controlRoutes(control))
  llmRoutes(app, world)
  bundleRoutes(app, world)
  endpointRoutes(app, world)
  inferenceRoutes(app, world)
  app.notFound((c) => {
    const allowed = allowedAt(c.req.path)
    return allowed.length > 0
      ? c.json({ detail: 'Method Not Allowed' }, 405, { allow: allowed.join(', ') })
      : c.json({ detail: 'Not Found' }, 404)
  })
  return app
}
