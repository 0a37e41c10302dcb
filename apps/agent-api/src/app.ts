import { isTransient, type Database } from '@keelson/database'
import type { IdentityStore } from '@keelson/identity'
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
import { agentApiKeyRoutes } from './agent-api-keys/routes.ts'
import type { AgentNetwork } from './agents/agent-network.ts'
import { agentRoutes } from './agents/routes.ts'
import type { CheckpointWriter } from './checkpoints/checkpoint-writer.ts'
import { checkpointRoutes } from './checkpoints/routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import type { ForwardLimits } from './forward/forward-request.ts'
import type { Keyring } from './forward/keyring.ts'
import { forwardRoutes } from './forward/routes.ts'
import { spanRoutes } from './spans/routes.ts'
import type { SpanWriter } from './spans/span-writer.ts'

/** Large and rarely read, so it is loaded for its first reader. */
const document = async () =>
  (await import('@keelson/contracts/openapi/agent-api.json', { with: { type: 'json' } })).default

/** Everything agent-api stands on. */
export type Deps = {
  db: Database
  spanWriter: SpanWriter
  checkpointWriter: CheckpointWriter
  /** What one checkpoint with all that is answered with it may weigh. */
  maxTupleBytes?: number
  queue: Queue
  accountKeys: AccountKeys
  identities: IdentityStore
  network: AgentNetwork
  keyring: Keyring
  /** Where the outside reaches this service, for the addresses of webhooks. */
  publicUrl: string | null
  forwardLimits?: ForwardLimits
  authenticate: Authenticate
  accountOf?: AccountOf
  idempotency: IdempotencyStore
  proxyHops?: number
  limits?: Partial<ServiceLimits>
  tracer?: Tracer | null
  log: Logger
  metrics: Metrics
}

/** agent-api, its groups in the order of their URLs. */
export const createApp = (deps: Deps): Service => {
  const { db, authenticate, log, metrics } = deps
  const readiness = { postgres: async () => void (await db.sql`select 1`) }
  const service = createService({
    name: 'agent-api',
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
  agentApiKeyRoutes(service, deps)
  agentRoutes(service, deps)
  forwardRoutes(service, deps)
  checkpointRoutes(service, deps)
  spanRoutes(service, deps)
  deliveryRoutes(service, deps)
  return service
}
