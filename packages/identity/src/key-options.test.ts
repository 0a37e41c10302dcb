import { SCOPES } from '@keelson/contracts'
import { expect, test } from 'vitest'
import { parseDuration, parseExpiry, parseScopes } from './key-options.ts'

test('durations are read with their unit', () => {
  expect(['0', '10s', '30m', '24h', '90d'].map(parseDuration)).toEqual([
    0, 10_000, 1_800_000, 86_400_000, 7_776_000_000,
  ])
  for (const text of ['', '10', 'd', '1.5h', '-1d', '1w']) expect(() => parseDuration(text)).toThrow('is no duration')
})

test('an expiry is a duration from now, a date or a time, and lies ahead', () => {
  const now = Date.parse('2026-11-21T00:00:00Z')
  expect(parseExpiry('1d', now)).toBe('2026-11-22T00:00:00.000Z')
  expect(parseExpiry('2027-01-31', now)).toBe('2027-01-31T00:00:00.000Z')
  for (const text of ['0', '2026-11-20', '2026-99-99'])
    expect(() => parseExpiry(text, now)).toThrow('is not a time to come')
})

test('scopes are read by name or by group, once each', () => {
  expect(parseScopes('spans:read,models:*,models:read')).toEqual([
    'spans:read',
    'models:read',
    'models:write',
    'models:delete',
  ])
  expect(parseScopes(SCOPES.join(','))).toEqual([...SCOPES])
  for (const text of ['', 'spans', 'spans:', '*', 'spans:all', 'nothing:*'])
    expect(() => parseScopes(text)).toThrow('is no scope')
})
