import { expect, test } from 'vitest'
import { keyDigest, type Grant } from './key-digest.ts'

const digest = keyDigest(Buffer.alloc(32, 7))

const grant: Grant = {
  account_id: 'acct_a',
  id: 'key_a',
  identity_id: 'user_a',
  identity_type: 'user',
  hash: digest.hash('kluser_a'),
  scopes: ['spans:read', 'models:read'],
  expires_at: '2027-01-01T00:00:00Z',
}

test('hash and row MAC never change between releases, or every issued key would stop working', () => {
  expect(digest.hash('kluser_a').toString('hex')).toBe(
    '5c4c2cfd7cd288fe9af4cbbc4679809c828ed54f684a795f4843980babf75605',
  )
  expect(digest.rowMac(grant).toString('hex')).toBe('c46a32797c3be45fc775f62ebb936039decaeec6e3122726b5e4cb1549792f6c')
})

test('a hash says nothing without the pepper', () => {
  expect(keyDigest(Buffer.alloc(32, 8)).hash('kluser_a')).not.toEqual(digest.hash('kluser_a'))
})

test.each<[string, Partial<Grant>]>([
  ['account', { account_id: 'acct_b' }],
  ['id', { id: 'key_b' }],
  ['identity', { identity_id: 'user_b' }],
  ['identity type', { identity_type: 'service_account' }],
  ['hash', { hash: digest.hash('kluser_b') }],
  ['scopes', { scopes: ['models:read'] }],
  ['scopes to all', { scopes: null }],
  ['expiry', { expires_at: '2028-01-01T00:00:00Z' }],
  ['expiry to never', { expires_at: null }],
])('a row whose %s was edited is not genuine', (_what, edit) => {
  const mac = digest.rowMac(grant)
  expect(digest.isGenuine(grant, mac)).toBe(true)
  expect(digest.isGenuine({ ...grant, ...edit }, mac)).toBe(false)
})

test('the order in which scopes are stored does not matter', () => {
  expect(digest.isGenuine({ ...grant, scopes: ['models:read', 'spans:read'] }, digest.rowMac(grant))).toBe(true)
})

test('a row without a MAC or with one of another length is not genuine', () => {
  for (const mac of [null, Buffer.alloc(0), Buffer.alloc(32), digest.rowMac(grant).subarray(0, 31)]) {
    expect(digest.isGenuine(grant, mac)).toBe(false)
  }
})
