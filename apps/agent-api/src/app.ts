import document from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { isTransient, type Database } from '@keelson/database'
import { createService, type Authenticate, type Logger, type Metrics, type Service } from '@keelson/service-kit'
import { checkpointRoutes } from './checkpoints/routes.ts'
import { spanRoutes } from './spans/routes.ts'
import type { SpanWriter } from './spans/span-writer.ts'

/** Everything agent-api stands on. */
export type Deps = {
  db: Database
  spanWriter: SpanWriter
  authenticate: Authenticate
  log: Logger
  metrics: Metrics
}

/** agent-api, its groups in the order of their URLs. */
export const createApp = (deps: Deps): Service => {
  const { db, authenticate, log, metrics } = deps
  const readiness = { postgres: async () => void (await db.sql`select 1`) }
  const service = createService({ name: 'agent-api', document, log, metrics, authenticate, readiness, isTransient })
  checkpointRoutes(service, deps)
  spanRoutes(service, deps)
  return service
}
