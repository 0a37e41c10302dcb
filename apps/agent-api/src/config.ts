import { loadConfig, LOG_LEVELS, setting, type Config, type Environment } from '@keelson/service-kit'

/** What agent-api needs from its environment. */
export const settings = {
  DATABASE_URL: setting.secret({ description: 'the Postgres to keep everything in' }),
  HOST: setting.string({ default: '127.0.0.1', description: 'the address to listen on' }),
  PORT: setting.port({ default: 8081, description: 'the port of the API' }),
  METRICS_PORT: setting.port({ default: 9081, description: 'the port of the metrics' }),
  LOG_LEVEL: setting.oneOf(LOG_LEVELS, { default: 'info', description: 'the least severe level that is logged' }),
  DRAIN_TIMEOUT: setting.durationMs({ default: 20_000, description: 'how long requests in flight may take at the end' }),
  DATABASE_CONNECTIONS: setting.integer({ default: 12, min: 2, max: 200, description: 'connections to Postgres' }),
} as const

export const agentConfig = (env: Environment): Config<typeof settings> => loadConfig(env, settings)
