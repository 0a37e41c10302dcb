import { expect, test } from 'vitest'
import { simulatorConfig } from './config.ts'
import { createWorld } from './world.ts'

test('an empty environment gives the local simulator', () => {
  const { host, port, options } = simulatorConfig({})
  expect([host, port]).toEqual(['127.0.0.1', 8083])
  expect(options).toMatchObject({ timeScale: 10, default_profile: 'happy', cache: { enabled: true, replicas: 3 } })
  expect(options).not.toHaveProperty('keys')
  expect(createWorld(options).settings.server).toMatchObject({ conflict_409: false, status_reason: true })
})

test('keys come with their owners, and one alone is its own', () => {
  const { options } = simulatorConfig({ SIMULATOR_KEYS: 'alpha:team-a, beta:team-b,gamma' })
  expect(options.keys).toEqual({ alpha: 'team-a', beta: 'team-b', gamma: 'gamma' })
})

test('what cannot be used is told by name', () => {
  const env = { PORT: 'x', SIMULATOR_PROFILE: 'odd', SIMULATOR_REPLICAS: '0', SIMULATOR_TIME_SCALE: '-1' }
  expect(() => simulatorConfig(env)).toThrow(
    /PORT must be[^]*SIMULATOR_TIME_SCALE must be[^]*SIMULATOR_PROFILE must be one of happy/,
  )
})
