import { jsonResponse } from './answer.ts'
import { docsPages } from './docs.ts'
import { healthPages } from './health.ts'
import { mountedDocument } from './openapi-document.ts'
import type { Mount, RouteHandler } from './routing.ts'
import type { ServiceOptions } from './service-options.ts'

/** Answered under load too: a busy process is not a dead one. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/** The pages every service has, without a key. */
export const publicPages = (
  options: ServiceOptions,
  mounted: ReadonlySet<string>,
  isDraining: () => boolean,
): Mount[] => {
  const { readiness: checks, readinessTimeoutMs: timeoutMs = 2000, log } = options
  const health = healthPages({ checks, timeoutMs, log, isDraining })
  const docs = docsPages(options.name, options.docsDirectory)
  let document: Promise<string> | null = null
  const openapi: RouteHandler = async ({ env }) => {
    document ??= options.document().then((complete) => mountedDocument(complete, mounted))
    return jsonResponse(env, 200, await document)
  }
  return [
    { method: 'get', path: '/healthz', handler: health.healthz },
    { method: 'get', path: '/readyz', handler: health.readyz },
    { method: 'get', path: '/openapi.json', handler: openapi },
    { method: 'get', path: '/docs', handler: docs.index },
    { method: 'get', path: '/docs/start.js', handler: docs.start },
    { method: 'get', path: '/docs/:file', handler: docs.file },
  ]
}
