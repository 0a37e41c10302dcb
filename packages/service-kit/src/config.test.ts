import { inspect } from 'node:util'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { ConfigError, describeSettings, loadConfig } from './config.ts'
import { Secret } from './secret.ts'
import { setting } from './setting.ts'

const settings = {
  DATABASE_URL: setting.url({ description: 'Where Postgres is', protocols: ['postgres', 'postgresql'] }),
  REDIS_URL: setting.url({ default: null, description: 'Where Redis is' }),
  PORT: setting.port({ default: 8080, description: 'Where to listen' }),
  WORKERS: setting.integer({ default: 4, min: 1, max: 64, description: 'How many' }),
  GATEWAY: setting.flag({ default: false, description: 'Whether the gateway is on' }),
  DRAIN: setting.durationMs({ default: 10_000, description: 'How long to drain' }),
  RETENTION: setting.retentionMs({ default: null, description: 'How long to keep' }),
  LOG_LEVEL: setting.oneOf(['debug', 'info'], { default: 'info', description: 'How much to log' }),
  PEPPER: setting.secret({ description: 'The pepper' }),
  TOKEN: setting.secret({ default: null, description: 'A token' }),
  HOST: setting.string({ default: '127.0.0.1', description: 'Which address' }),
}
const REQUIRED = { DATABASE_URL: 'postgres://u:p@localhost/db', PEPPER: 'hunter2' }

const problemsOf = (env: Record<string, string>) => {
  try {
    loadConfig({ ...REQUIRED, ...env }, settings)
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}

describe('loadConfig', () => {
  test('uses defaults for what is absent or empty', () => {
    const config = loadConfig({ ...REQUIRED, PORT: '', UNKNOWN: 'ignored' }, settings)
    expect({ ...config, PEPPER: config.PEPPER.expose() }).toEqual({
      ...REQUIRED,
      REDIS_URL: null,
      PORT: 8080,
      WORKERS: 4,
      GATEWAY: false,
      DRAIN: 10_000,
      RETENTION: null,
      LOG_LEVEL: 'info',
      TOKEN: null,
      HOST: '127.0.0.1',
    })
    expect(Object.isFrozen(config)).toBe(true)
    expectTypeOf(config.REDIS_URL).toEqualTypeOf<string | null>()
    expectTypeOf(config.LOG_LEVEL).toEqualTypeOf<'debug' | 'info'>()
    expectTypeOf(config.TOKEN).toEqualTypeOf<Secret | null>()
    expectTypeOf(config.PORT).toEqualTypeOf<number>()
  })

  test.each([
    ['PORT', '0', 0],
    ['WORKERS', '64', 64],
    ['GATEWAY', 'enabled', true],
    ['GATEWAY', 'OFF', false],
    ['LOG_LEVEL', 'debug', 'debug'],
    ['DRAIN', '250ms', 250],
    ['DRAIN', '30s', 30_000],
    ['DRAIN', '5m', 300_000],
    ['DRAIN', '15', 15],
    ['RETENTION', '90d', 7_776_000_000],
    ['RETENTION', '60m', 3_600_000],
    ['REDIS_URL', 'redis://h:1', 'redis://h:1'],
  ] as const)('%s reads %s', (name, text, value) => {
    expect(loadConfig({ ...REQUIRED, [name]: text }, settings)[name]).toBe(value)
  })

  test.each([
    ['PORT', '65536'],
    ['PORT', '80a'],
    ['PORT', ' 80'],
    ['PORT', '0x50'],
    ['WORKERS', '0'],
    ['WORKERS', '1.5'],
    ['GATEWAY', 'maybe'],
    ['DRAIN', '5 minutes'],
    ['RETENTION', '90'],
    ['RETENTION', '7776000000'],
    ['RETENTION', '0h'],
    ['RETENTION', '59m'],
    ['RETENTION', '36501d'],
    ['LOG_LEVEL', 'loud'],
    ['REDIS_URL', 'not a url'],
    ['DATABASE_URL', 'http://x'],
  ])('%s refuses %s without repeating it', (name, text) => {
    const problems = problemsOf({ [name]: text })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name} must be `))
    expect(problems[0]).not.toContain(text)
  })

  test('tells every problem at once, by name, and no value', () => {
    const load = () => loadConfig({ PORT: 'hunter2', PEPPER: '' }, settings)
    expect(load).toThrow(ConfigError)
    expect(load).toThrow(
      /DATABASE_URL is not set: Where Postgres is\n.*PORT must be a port, 0 to 65535\n.*PEPPER is not set: The pepper/,
    )
    expect(load).not.toThrow(/hunter2/)
  })

  test('the settings describe themselves as a table', () => {
    const rows = describeSettings(settings)
    expect(rows).toHaveLength(Object.keys(settings).length)
    expect(rows.slice(0, 3)).toEqual([
      {
        name: 'DATABASE_URL',
        expected: 'a URL starting postgres:// or postgresql://',
        default: 'required',
        description: 'Where Postgres is',
      },
      { name: 'REDIS_URL', expected: 'a URL', default: 'unset', description: 'Where Redis is' },
      { name: 'PORT', expected: 'a port, 0 to 65535', default: '8080', description: 'Where to listen' },
    ])
  })
})

test('a secret shows itself to nobody but who asks for it', () => {
  const secret = new Secret('hunter2')
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    Object.values(secret),
  ]
  expect(shown.join()).not.toContain('hunter2')
  expect(secret.expose()).toBe('hunter2')
})
