import { ConfigError } from '@keelson/service-kit'
import { expect, test } from 'vitest'
import { deployerConfig } from './config.ts'

const DATABASE_URL = 'postgres://localhost/keelson'

test('needs nothing but a database', () => {
  const config = deployerConfig({ DATABASE_URL })
  expect(config).toMatchObject({ PORT: 8082, METRICS_PORT: 9082, REDIS_URL: null, LAUNCH_URL: null })
  expect(config.limits).toMatchObject({ deployingMs: 1_800_000, queueingMs: 3_600_000, settleMs: 45_000 })
})

test('keeps a step shorter than half a lease, whatever the lease', () => {
  for (const LEASE of ['1s', '30s', '5m']) {
    const config = deployerConfig({ DATABASE_URL, LEASE, SETTLE_TIME: '10m' })
    expect(config.stepMs).toBeLessThan(config.LEASE / 2)
  }
})

test('refuses what it cannot read, naming all of it', () => {
  const broken = () => deployerConfig({ PORT: 'x', LEASE: 'soon' })
  expect(broken).toThrow(ConfigError)
  expect(broken).toThrow(/DATABASE_URL[^]*PORT[^]*LEASE/)
})

test('refuses to forget lost requests before the last of them has landed and shows', () => {
  const times = { LEASE: '10s', VENDOR_REQUEST_TIMEOUT: '7s', VENDOR_CACHE_TIME: '20s' }
  const refused = () => deployerConfig({ DATABASE_URL, ...times, SETTLE_TIME: '30999ms' })
  expect(refused).toThrow('SETTLE_TIME must be at least 31000 ms')
  expect(deployerConfig({ DATABASE_URL, ...times, SETTLE_TIME: '31s' }).limits.settleMs).toBe(31_000)
})

test('refuses to forget lost requests sooner than a worker can be frozen', () => {
  expect(() => deployerConfig({ DATABASE_URL, LEASE: '60s' })).toThrow('SETTLE_TIME must be at least LEASE')
})
