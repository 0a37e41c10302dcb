import { limitSettings, loadConfig, LOG_LEVELS, setting, type Config, type Environment } from '@keelson/service-kit'

/** What agent-api needs from its environment. */
export const settings = {
  DATABASE_URL: setting.secret({ description: 'the Postgres to keep everything in' }),
  REDIS_URL: setting.url({
    protocols: ['redis', 'rediss'],
    default: null,
    description: 'the Redis that wakes the webhook worker; unset, Postgres does',
  }),
  HOST: setting.string({ default: '127.0.0.1', description: 'the address to listen on' }),
  PORT: setting.port({ default: 8081, description: 'the port of the API' }),
  METRICS_PORT: setting.port({ default: 9081, description: 'the port of the metrics' }),
  PROXY_HOPS: setting.integer({
    default: 0,
    max: 10,
    description: 'proxies of your own in front, which append to X-Forwarded-For',
  }),
  LOG_LEVEL: setting.oneOf(LOG_LEVELS, { default: 'info', description: 'the least severe level that is logged' }),
  DRAIN_TIMEOUT: setting.durationMs({
    default: 20_000,
    description: 'how long requests in flight may take at the end',
  }),
  DATABASE_CONNECTIONS: setting.integer({ default: 12, min: 2, max: 200, description: 'connections to Postgres' }),
  ...limitSettings,
  SPAN_RETENTION: setting.durationMs({
    default: null,
    description: 'how long spans are kept, such as `90d`; unset, for ever',
  }),
  PUBLIC_URL: setting.url({
    protocols: ['http', 'https'],
    default: null,
    description: 'where the outside reaches this service, for the addresses of webhooks',
  }),
  ALLOW_PRIVATE_AGENTS: setting.flag({
    default: false,
    description: 'whether agents may live on this machine or in private networks',
  }),
} as const

export const agentConfig = (env: Environment): Config<typeof settings> => loadConfig(env, settings)

const {
  PROXY_HOPS: _hops,
  PUBLIC_URL: _url,
  SPAN_RETENTION: _retention,
  RATE_LIMIT: _rate,
  RATE_BURST: _burst,
  MAX_IN_FLIGHT: _inFlight,
  HEADERS_TIMEOUT: _headers,
  REQUEST_TIMEOUT: _request,
  ...shared
} = settings

/** What the webhook worker needs from its environment. */
export const webhookWorkerSettings = {
  ...shared,
  PORT: setting.port({ default: 8084, description: 'the port of the probes' }),
  METRICS_PORT: setting.port({ default: 9084, description: 'the port of the metrics' }),
  WEBHOOK_CONCURRENCY: setting.integer({
    default: 32,
    min: 1,
    max: 256,
    description: 'attempts at a time: a quarter for one agent, half for one account at most',
  }),
} as const

export const webhookWorkerConfig = (env: Environment): Config<typeof webhookWorkerSettings> =>
  loadConfig(env, webhookWorkerSettings)
