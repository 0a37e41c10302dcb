import { ConfigError, loadConfig, processSettings, setting, type Environment } from '@keelson/service-kit'

const HTTP = ['http', 'https'] as const

/** What the deployer needs from its environment. */
export const settings = {
  ...processSettings({ port: 8082, metricsPort: 9082, serves: 'the health pages', wakes: 'the deployer' }),
  LLM_ENGINE_URL: setting.url({ protocols: HTTP, default: null, description: 'the server of the vendor llmengine' }),
  LLM_ENGINE_API_KEY: setting.secret({ default: null, description: 'the key for LLM_ENGINE_URL' }),
  LAUNCH_URL: setting.url({ protocols: HTTP, default: null, description: 'the server of the vendor launch' }),
  LAUNCH_API_KEY: setting.secret({ default: null, description: 'the key for LAUNCH_URL' }),
  VENDOR_LABEL_TEAM: setting.string({ default: 'keelson', description: 'the label team where a model brings none' }),
  VENDOR_LABEL_PRODUCT: setting.string({
    default: 'keelson',
    description: 'the label product where a model brings none',
  }),
  VENDOR_CONCURRENCY: setting.integer({
    default: 32,
    min: 1,
    max: 1000,
    description: 'requests to one vendor at a time',
  }),
  VENDOR_REQUEST_TIMEOUT: setting.durationMs({ default: 10_000, description: 'how long a vendor may take to answer' }),
  WORKER_CONCURRENCY: setting.integer({
    default: 32,
    min: 1,
    max: 1000,
    description: 'deployments advanced at a time',
  }),
  LEASE: setting.durationMs({ default: 30_000, description: 'when a deployment of a lost worker is taken over' }),
  SWEEP_INTERVAL: setting.durationMs({
    default: 1_000,
    description: 'the pause between looks for overdue deployments',
  }),
  QUEUEING_TIMEOUT: setting.durationMs({ default: 3_600_000, description: 'how long the vendor may take to accept' }),
  DEPLOYMENT_TIMEOUT: setting.durationMs({
    default: 1_800_000,
    description:
      "how long a model may take to serve, from the vendor's acceptance; not less than the vendor's own limit on builds",
  }),
  TEARDOWN_TIMEOUT: setting.durationMs({ default: 1_800_000, description: 'how long a deletion may take' }),
  CLEANUP_TIMEOUT: setting.durationMs({
    default: 86_400_000,
    description: 'for how long removing what a failed deployment left is tried',
  }),
  VENDOR_CACHE_TIME: setting.durationMs({ default: 15_000, description: 'how old what a vendor answers may be' }),
  SETTLE_TIME: setting.durationMs({
    default: 45_000,
    description:
      'until a lost request has landed and its effect shows; not less than LEASE, nor than 40 % of LEASE, VENDOR_REQUEST_TIMEOUT and VENDOR_CACHE_TIME together',
  }),
  POLL_MIN: setting.durationMs({ default: 1_000, description: 'the shortest pause between two looks at a deployment' }),
  POLL_MAX: setting.durationMs({ default: 15_000, description: 'the longest pause between two looks at a deployment' }),
  CONFIRM_TIME: setting.durationMs({
    default: 2_000,
    description: 'the pause between the two good readings that make a model ready',
  }),
  RETRY_MAX: setting.durationMs({ default: 60_000, description: 'the longest pause after steps that failed' }),
  OBSERVE_INTERVAL: setting.durationMs({ default: 600_000, description: 'between looks whether a model still serves' }),
  ORPHAN_INTERVAL: setting.durationMs({ default: 600_000, description: 'between looks for endpoints no model needs' }),
  REMOVE_ORPHANS: setting.flag({
    default: false,
    description: 'whether to remove those endpoints; not with a vendor account that others share',
  }),
} as const

const RETRY_MIN_MS = 1_000
/** Reached after two to four minutes: longer than these vendors answer 500 about an endpoint they are still to look at. */
const MAX_ATTEMPTS = 10

/**
 * Reads the environment. A step takes at most 40 % of the lease, so that it is over before
 * anybody else takes over.
 *
 * @throws ConfigError listing every problem
 */
export const deployerConfig = (env: Environment) => {
  const config = loadConfig(env, settings)
  const stepMs = Math.floor(config.LEASE * 0.4)
  // What a frozen worker sent with its last breath must be over before anything is written over it.
  if (config.SETTLE_TIME < config.LEASE) throw new ConfigError(['SETTLE_TIME must be at least LEASE'])
  // It was sent before its step ended, lands in a request's time, and is hidden by a cache for as long as that lasts.
  const latestMs = stepMs + config.VENDOR_REQUEST_TIMEOUT + config.VENDOR_CACHE_TIME
  if (config.SETTLE_TIME < latestMs) throw new ConfigError([`SETTLE_TIME must be at least ${latestMs} ms`])
  return {
    ...config,
    stepMs,
    limits: {
      queueingMs: config.QUEUEING_TIMEOUT,
      deployingMs: config.DEPLOYMENT_TIMEOUT,
      teardownMs: config.TEARDOWN_TIMEOUT,
      cleanupMs: config.CLEANUP_TIMEOUT,
      settleMs: config.SETTLE_TIME,
      pollMinMs: config.POLL_MIN,
      pollMaxMs: config.POLL_MAX,
      confirmMs: config.CONFIRM_TIME,
      retryMinMs: RETRY_MIN_MS,
      retryMaxMs: config.RETRY_MAX,
      maxAttempts: MAX_ATTEMPTS,
    },
  }
}

export type DeployerConfig = ReturnType<typeof deployerConfig>
