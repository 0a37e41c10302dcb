import { jsonResponse } from './answer.ts'
import { docsPages } from './docs.ts'
import { healthOf, type Health } from './health.ts'
import { mountedDocument } from './openapi-document.ts'
import type { Mount, RouteHandler } from './routing.ts'
import type { ServiceOptions } from './service-options.ts'

/** Answered under load too: a busy process is not a dead one. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

const pageOf =
  (probe: () => Health | Promise<Health>): RouteHandler =>
  async ({ env }) => {
    const { status, body, headers } = await probe()
    return jsonResponse(env, status, body, headers)
  }

/** The pages every service has, without a key. */
export const publicPages = (
  options: ServiceOptions,
  mounted: ReadonlySet<string>,
  isDraining: () => boolean,
): Mount[] => {
  const { readiness: checks, readinessTimeoutMs: timeoutMs, log } = options
  const { healthz, readyz } = healthOf({ checks, timeoutMs, log, isDraining })
  const docs = docsPages(options.name, options.docsDirectory)
  let document: Promise<string> | null = null
  const openapi: RouteHandler = async ({ env }) => {
    document ??= options.document().then((complete) => mountedDocument(complete, mounted, options.limits?.bodyBytes))
    return jsonResponse(env, 200, await document)
  }
  return [
    { method: 'get', path: '/healthz', handler: pageOf(healthz) },
    { method: 'get', path: '/readyz', handler: pageOf(readyz) },
    { method: 'get', path: '/openapi.json', handler: openapi },
    { method: 'get', path: '/docs', handler: docs.index },
    { method: 'get', path: '/docs/start.js', handler: docs.start },
    { method: 'get', path: '/docs/:file', handler: docs.file },
  ]
}
