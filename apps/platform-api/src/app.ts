import { isTransient, type Database } from '@keelson/database'
import type { Queue } from '@keelson/queue'
import type { AccountKeys } from '@keelson/secrets'
import {
  createService,
  type AccountOf,
  type Authenticate,
  type IdempotencyStore,
  type Logger,
  type Metrics,
  type Service,
  type ServiceLimits,
  type Tracer,
} from '@keelson/service-kit'
import { credentialRoutes } from './credentials/routes.ts'
import { modelRoutes } from './models/routes.ts'

/** Large and rarely read, so it is loaded for its first reader. */
const document = async () =>
  (await import('@keelson/contracts/openapi/platform-api.json', { with: { type: 'json' } })).default

/** Everything platform-api stands on. */
export type Deps = {
  db: Database
  queue: Queue
  accountKeys: AccountKeys
  authenticate: Authenticate
  accountOf?: AccountOf
  idempotency: IdempotencyStore
  proxyHops?: number
  limits?: Partial<ServiceLimits>
  tracer?: Tracer | null
  log: Logger
  metrics: Metrics
  /** Whether hosted models may be registered. */
  nativeInferenceGateway: boolean
}

/** platform-api, its groups in the order of their URLs. */
export const createApp = (deps: Deps): Service => {
  const { db, authenticate, log, metrics } = deps
  const readiness = { postgres: async () => void (await db.sql`select 1`) }
  const service = createService({
    name: 'platform-api',
    document,
    log,
    metrics,
    authenticate,
    accountOf: deps.accountOf ?? (() => null),
    proxyHops: deps.proxyHops ?? 0,
    limits: deps.limits ?? {},
    tracer: deps.tracer ?? null,
    readiness,
    isTransient,
    idempotency: deps.idempotency,
  })
  credentialRoutes(service, deps)
  modelRoutes(service, deps)
  return service
}
