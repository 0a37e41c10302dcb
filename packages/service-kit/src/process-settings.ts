import { LOG_LEVELS } from './logger.ts'
import { limitSettings } from './limit-settings.ts'
import { setting } from './setting.ts'
import { tracingSettings } from './tracing-settings.ts'

export type ProcessDefaults = {
  /** The default ports, and what the first one serves. */
  port: number
  metricsPort: number
  serves: string
  /** Whom Redis wakes. */
  wakes: string
}

/** What every process needs from its environment. */
export const processSettings = ({ port, metricsPort, serves, wakes }: ProcessDefaults) =>
  ({
    DATABASE_URL: setting.secret({ description: 'the Postgres to keep everything in' }),
    REDIS_URL: setting.url({
      protocols: ['redis', 'rediss'],
      default: null,
      description: `the Redis that wakes ${wakes}; unset, Postgres does`,
    }),
    HOST: setting.string({ default: '127.0.0.1', description: 'the address to listen on' }),
    PORT: setting.port({ default: port, description: `the port of ${serves}` }),
    METRICS_PORT: setting.port({ default: metricsPort, description: 'the port of the metrics' }),
    LOG_LEVEL: setting.oneOf(LOG_LEVELS, { default: 'info', description: 'the least severe level that is logged' }),
    ...tracingSettings,
  }) as const

/** What the processes need that wait for Postgres rather than for vendors. */
export const connectionSettings = (connections: number) =>
  ({
    DATABASE_CONNECTIONS: setting.integer({
      default: connections,
      min: 2,
      max: 200,
      description: 'connections to Postgres',
    }),
  }) as const

/** What the processes need that answer requests of callers who are not ours. */
export const edgeSettings = {
  DRAIN_TIMEOUT: setting.durationMs({
    default: 20_000,
    description: 'how long requests in flight may take at the end',
  }),
  PROXY_HOPS: setting.integer({
    default: 0,
    max: 10,
    description: 'proxies of your own in front, which append to X-Forwarded-For',
  }),
  ...limitSettings,
} as const
