import { describe, expect, test } from 'vitest'
import { readOptions, UsageError } from './options.ts'

const DEFAULTS = {
  'vendor-simulator': 8083,
  'platform-api': 8080,
  'agent-api': 8081,
  'webhook-worker': 8084,
  deployer: 8082,
}

describe('readOptions', () => {
  test('without flags and environment the documented ports and .keelson are used', () => {
    const options = readOptions('/keelson', [], {})
    expect(options).toEqual({
      root: '/keelson',
      directory: '/keelson/.keelson',
      database_url: undefined,
      redis_url: undefined,
      port: DEFAULTS,
    })
  })

  test('a flag beats the environment, which beats the default', () => {
    const env = { AGENT_API_PORT: '9001', PLATFORM_API_PORT: '9002', KEELSON_DIRECTORY: '/from/environment' }
    const options = readOptions('/keelson', ['--agent-api-port', '9003', '--directory=here'], env)
    expect(options.port).toEqual({ ...DEFAULTS, 'agent-api': 9003, 'platform-api': 9002 })
    expect(options.directory).toBe('/keelson/here')
  })

  test('DATABASE_URL and REDIS_URL are taken over, empty ones are as good as none', () => {
    const env = { DATABASE_URL: 'postgres://elsewhere/keelson', REDIS_URL: '' }
    expect(readOptions('/keelson', [], env)).toMatchObject({
      database_url: 'postgres://elsewhere/keelson',
      redis_url: undefined,
    })
  })

  test.each(['0', '-1', '8080.5', '65000', 'http'])('%s is refused as a port, by the name of the service', (port) => {
    expect(() => readOptions('/keelson', [`--deployer-port=${port}`], {})).toThrow(UsageError)
    expect(() => readOptions('/keelson', [], { DEPLOYER_PORT: port })).toThrow(
      `The port of deployer must be a whole number from 1 to 64535, not ${port}`,
    )
  })

  test('an unknown flag is refused with the list of the known ones', () => {
    expect(() => readOptions('/keelson', ['--prot', '1'], {})).toThrow('--platform-api-port 8080')
  })
})
