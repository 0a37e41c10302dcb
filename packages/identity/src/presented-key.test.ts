import { expect, test } from 'vitest'
import { presentedKey } from './presented-key.ts'

const headers = (...pairs: [string, string][]) => {
  const all = new Headers()
  for (const [name, value] of pairs) all.append(name, value)
  return all
}

test('one service reads x-api-key and nothing else', () => {
  expect(presentedKey(headers(['X-API-Key', 'k']), 'x-api-key')).toBe('k')
  expect(presentedKey(headers(['authorization', 'Bearer k'], ['x-agent-api-key', 'k']), 'x-api-key')).toBeNull()
})

test('the other reads a bearer token, in any case, or x-agent-api-key', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
    expect(presentedKey(headers(['authorization', `${scheme} k`]), 'authorization')).toBe('k')
  }
  expect(presentedKey(headers(['x-agent-api-key', 'k']), 'authorization')).toBe('k')
  expect(presentedKey(headers(['x-api-key', 'k']), 'authorization')).toBeNull()
})

test('both headers are taken when they agree and neither when they do not', () => {
  expect(presentedKey(headers(['authorization', 'Bearer k'], ['x-agent-api-key', 'k']), 'authorization')).toBe('k')
  expect(presentedKey(headers(['authorization', 'Bearer k'], ['x-agent-api-key', 'l']), 'authorization')).toBe('')
  expect(presentedKey(headers(['authorization', 'Basic k'], ['x-agent-api-key', 'k']), 'authorization')).toBe('')
})

test('a header sent twice presents nothing that could be a key', () => {
  expect(presentedKey(headers(['x-api-key', 'k'], ['x-api-key', 'k']), 'x-api-key')).toBe('k, k')
  expect(presentedKey(headers(['authorization', 'Bearer k'], ['authorization', 'Bearer k']), 'authorization')).toBe('')
})

test('an authorization that is no bearer token presents nothing that could be a key', () => {
  for (const value of ['Bearer', 'k', 'Basic k', 'Bearer k l', 'Bearerk']) {
    expect(presentedKey(headers(['authorization', value]), 'authorization')).toBe('')
  }
})
