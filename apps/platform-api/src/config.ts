import { limitSettings, loadConfig, LOG_LEVELS, setting, type Config, type Environment } from '@keelson/service-kit'

/** What platform-api needs from its environment. */
export const settings = {
  DATABASE_URL: setting.secret({ description: 'the Postgres to keep everything in' }),
  REDIS_URL: setting.url({
    protocols: ['redis', 'rediss'],
    default: null,
    description: 'the Redis that wakes the deployer; unset, Postgres does',
  }),
  HOST: setting.string({ default: '127.0.0.1', description: 'the address to listen on' }),
  PORT: setting.port({ default: 8080, description: 'the port of the API' }),
  METRICS_PORT: setting.port({ default: 9080, description: 'the port of the metrics' }),
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
  DATABASE_CONNECTIONS: setting.integer({ default: 10, min: 2, max: 200, description: 'connections to Postgres' }),
  ...limitSettings,
  AUDIT_CHECKPOINT_FILE: setting.string({
    default: null,
    description: 'the file that checkpoints of the audit log are appended to; unset, they are logged',
  }),
  NATIVE_INFERENCE_GATEWAY: setting.flag({ default: false, description: 'whether hosted models may be registered' }),
} as const

export const platformConfig = (env: Environment): Config<typeof settings> => loadConfig(env, settings)
