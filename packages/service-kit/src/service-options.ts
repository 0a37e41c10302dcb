import type { Checks } from './health.ts'
import type { IdempotencyStore } from './idempotency.ts'
import type { LoadLimits } from './load.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import type { AccountOf, Authenticate } from './principal.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Tracer } from './tracer.ts'

export type ServiceOptions = {
  name: 'platform-api' | 'agent-api'
  /** Loads the complete OpenAPI document when it is first asked for; what is not mounted is left out of what is served. */
  document: () => Promise<object>
  log: Logger
  metrics: Metrics
  authenticate: Authenticate
  /** Without it, a busy service refuses the requests of all accounts alike. */
  accountOf?: AccountOf
  /** Proxies of our own in front, each of which appends to `X-Forwarded-For` (default 0: the peer is the caller). */
  proxyHops?: number
  readiness: Checks
  /** How long one check may take; 2 s when left out. */
  readinessTimeoutMs?: number
  /** Whether an error is a passing fault of a dependency: answered with 503 instead of 500. */
  isTransient?: (error: unknown) => boolean
  /** Without it, an `Idempotency-Key` has no effect. */
  idempotency?: IdempotencyStore
  /** Where the files of the API reference are; by default beside the bundle, else in node_modules. */
  docsDirectory?: string
  limits?: Partial<ServiceLimits>
  /** Told of every request as a span; without it, trace contexts are passed on as they came. */
  tracer?: Tracer | null
}

export type ServiceLimits = LoadLimits & {
  /** So many requests at a time are no crowd, however slow together; see `crowd`. */
  crowdSize: number
  /** How many times slower than usual requests may get while others are refused; see `crowd`. */
  maxSlowdown: number
  /** What the bodies of the requests in flight may weigh together; see `bodyBudget`. */
  maxBodyBytes: number
  /** What the body of an operation may weigh, by `operationId`, where that is not what its route says. */
  bodyBytes: Readonly<Record<string, number>>
  /** How long a caller is kept waiting, beside what an operation waits on purpose. */
  patienceMs: number
  /** Per API key and process. */
  rate: RateLimit
}

export const DEFAULT_LIMITS: ServiceLimits = {
  maxInFlight: 1000,
  maxEventLoopDelayMs: 250,
  crowdSize: 128,
  maxSlowdown: 2,
  maxBodyBytes: 32 * 1_048_576,
  bodyBytes: {},
  patienceMs: 30_000,
  rate: { requestsPerSecond: 10_000, burst: 20_000 },
}

/** The `WWW-Authenticate` of a 401. */
export const CHALLENGES = {
  'platform-api': 'ApiKey realm="platform-api", header="x-api-key"',
  'agent-api': 'Bearer realm="agent-api"',
} as const satisfies Record<ServiceOptions['name'], string>
