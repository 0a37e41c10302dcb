import { LOG_LEVELS, loadConfig, setting, type Environment } from '@keelson/service-kit'
import { builtInProfiles } from './built-in-profiles.ts'
import type { SimulatorOptions } from './simulator.ts'

/** What a simulator run as a process reads from its environment; the control API changes the rest. */
export const SETTINGS = {
  HOST: setting.string({ default: '127.0.0.1', description: 'Address to listen on' }),
  PORT: setting.port({ default: 8083, description: 'Port to listen on; 0 for any free one' }),
  LOG_LEVEL: setting.oneOf(LOG_LEVELS, { default: 'info', description: 'Least severe lines to print' }),
  SIMULATOR_TIME_SCALE: setting.integer({ default: 10, max: 100_000, description: 'How many times faster than life' }),
  SIMULATOR_SEED: setting.string({ default: '1', description: 'What ids and random faults derive from' }),
  SIMULATOR_KEYS: setting.string({
    default: null,
    description: 'API keys that are accepted, `key:owner,key:owner`; unset, every key is, and is its own owner',
  }),
  SIMULATOR_PROFILE: setting.oneOf([...builtInProfiles().keys()], {
    default: 'happy',
    description: 'Lifecycle of endpoints that ask for none',
  }),
  SIMULATOR_CACHE: setting.flag({ default: true, description: 'Whether reads go through stale caches' }),
  SIMULATOR_REPLICAS: setting.integer({
    default: 3,
    min: 1,
    max: 16,
    description: 'Server processes, each with its cache',
  }),
  SIMULATOR_CONFLICT_409: setting.flag({ default: false, description: 'As an old server: 409 on overlapping writes' }),
  SIMULATOR_STATUS_REASON: setting.flag({ default: true, description: 'Off, as an old server: no `status_reason`' }),
  SIMULATOR_SCALE_FROM_ZERO: setting.flag({ default: false, description: 'Whether `min_workers` may be 0 everywhere' }),
  SIMULATOR_JOURNAL_LIMIT: setting.integer({ default: 10_000, min: 1, description: 'Requests kept in the journal' }),
}

export type SimulatorConfig = {
  host: string
  port: number
  logLevel: (typeof LOG_LEVELS)[number]
  options: SimulatorOptions
}

const keysOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const [key = '', owner = key] = pair.trim().split(':')
      return [key, owner]
    }),
  )

/** @throws ConfigError */
export const simulatorConfig = (env: Environment): SimulatorConfig => {
  const config = loadConfig(env, SETTINGS)
  return {
    host: config.HOST,
    port: config.PORT,
    logLevel: config.LOG_LEVEL,
    options: {
      timeScale: config.SIMULATOR_TIME_SCALE,
      seed: config.SIMULATOR_SEED,
      ...(config.SIMULATOR_KEYS === null ? {} : { keys: keysOf(config.SIMULATOR_KEYS) }),
      journalLimit: config.SIMULATOR_JOURNAL_LIMIT,
      default_profile: config.SIMULATOR_PROFILE,
      cache: { enabled: config.SIMULATOR_CACHE, replicas: config.SIMULATOR_REPLICAS },
      server: {
        conflict_409: config.SIMULATOR_CONFLICT_409,
        status_reason: config.SIMULATOR_STATUS_REASON,
        scale_from_zero: config.SIMULATOR_SCALE_FROM_ZERO,
      },
    },
  }
}
