import { LOG_LEVELS, loadConfig, setting, type Environment } from '@keelson/service-kit'

const SETTINGS = {
  DATABASE_URL: setting.url({ protocols: ['postgres', 'postgresql'], description: 'Postgres, where the truth is' }),
  REDIS_URL: setting.url({
    protocols: ['redis', 'rediss'],
    default: null,
    description: 'The queue; without it, Postgres is',
  }),
  HOST: setting.string({ default: '0.0.0.0', description: 'Where the probes listen' }),
  PORT: setting.port({ default: 8082, description: 'Port of /healthz, /readyz and /metrics' }),
  METRICS_PORT: setting.port({ default: null, description: 'A second port for the same; PORT + 1000 when unset' }),
  LOG_LEVEL: setting.oneOf(LOG_LEVELS, { default: 'info', description: 'The least urgent lines to write' }),
  LLM_ENGINE_URL: setting.url({
    protocols: ['http', 'https'],
    default: null,
    description: 'Server of the vendor llmengine',
  }),
  LLM_ENGINE_API_KEY: setting.secret({ default: null, description: 'Key for LLM_ENGINE_URL' }),
  LAUNCH_URL: setting.url({ protocols: ['http', 'https'], default: null, description: 'Server of the vendor launch' }),
  LAUNCH_API_KEY: setting.secret({ default: null, description: 'Key for LAUNCH_URL' }),
  VENDOR_LABEL_TEAM: setting.string({ default: 'keelson', description: 'Label team, where a model brings none' }),
  VENDOR_LABEL_PRODUCT: setting.string({ default: 'keelson', description: 'Label product, where a model brings none' }),
  VENDOR_CONCURRENCY: setting.integer({
    default: 32,
    min: 1,
    max: 1000,
    description: 'Requests to one vendor at a time',
  }),
  VENDOR_REQUEST_TIMEOUT: setting.durationMs({
    default: 10_000,
    description: 'Longest wait for one answer of a vendor',
  }),
  WORKER_CONCURRENCY: setting.integer({
    default: 32,
    min: 1,
    max: 1000,
    description: 'Deployments advanced at a time',
  }),
  LEASE: setting.durationMs({
    default: 30_000,
    description: 'After which a deployment of a lost worker is taken over',
  }),
  SWEEP_INTERVAL: setting.durationMs({ default: 1_000, description: 'Pause between looks for forgotten deployments' }),
  QUEUEING_TIMEOUT: setting.durationMs({
    default: 3_600_000,
    description: "From the request to the vendor's acceptance",
  }),
  DEPLOYMENT_TIMEOUT: setting.durationMs({
    default: 1_800_000,
    description: "From the vendor's acceptance to serving",
  }),
  TEARDOWN_TIMEOUT: setting.durationMs({ default: 1_800_000, description: 'For a deletion' }),
  CLEANUP_TIMEOUT: setting.durationMs({ default: 86_400_000, description: 'For what a failed deployment left behind' }),
  SETTLE_TIME: setting.durationMs({
    default: 30_000,
    description: "Until a vendor's caches and lost requests are over",
  }),
  POLL_MIN: setting.durationMs({ default: 1_000, description: 'Shortest pause between two looks at a deployment' }),
  POLL_MAX: setting.durationMs({ default: 15_000, description: 'Longest pause between two looks at a deployment' }),
  CONFIRM_TIME: setting.durationMs({
    default: 2_000,
    description: 'Between the two good readings that make a model ready',
  }),
  RETRY_MAX: setting.durationMs({ default: 60_000, description: 'Longest pause after failed steps' }),
  OBSERVE_INTERVAL: setting.durationMs({ default: 600_000, description: 'Between looks whether a model still serves' }),
  ORPHAN_INTERVAL: setting.durationMs({ default: 600_000, description: 'Between looks for endpoints no model needs' }),
  REMOVE_ORPHANS: setting.flag({
    default: false,
    description: 'Remove them; not with a vendor account that is shared',
  }),
}

const RETRY_MIN_MS = 1_000
/** Reached after two to four minutes: longer than these vendors answer 500 about an endpoint they are still to look at. */
const MAX_ATTEMPTS = 10

/**
 * What the deployer needs from its environment. A step takes at most 40 % of the lease, so that it is over before
 * anybody else takes over.
 *
 * @throws ConfigError listing every problem
 */
export const deployerConfig = (env: Environment) => {
  const config = loadConfig(env, SETTINGS)
  return {
    ...config,
    METRICS_PORT: config.METRICS_PORT ?? config.PORT + 1000,
    stepMs: config.LEASE * 0.4,
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
