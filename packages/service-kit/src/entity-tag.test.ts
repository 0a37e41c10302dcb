import { describe, expect, test } from 'vitest'
import { ifMatch, isKnownTo, requireMatch } from './entity-tag.ts'
import { request, send, testService } from './test-service.ts'

const holds = (header: string, revision: number) => {
  try {
    requireMatch(ifMatch(new Headers({ 'if-match': header })), revision)
    return true
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('If-Match', () => {
  test.each([
    ['"7"', true],
    ['"6", "7"', true],
    ['"a,b","7"', true],
    ['*', true],
    ['"6"', 'precondition_failed'],
    ['W/"7"', 'precondition_failed'],
    ['""', 'precondition_failed'],
    ['7', 'malformed_request'],
    ['"7', 'malformed_request'],
    ['"7" "8"', 'malformed_request'],
    ['', 'malformed_request'],
    ['*, "7"', 'malformed_request'],
  ])('%s, asked of revision 7: %s', (header, expected) => expect(holds(header, 7)).toBe(expected))

  test.each([
    ['"7"', 412],
    ['*', 204],
    ['7', 400],
  ])('%s holds for an object without a tag as far as it can: %i', async (header, status) => {
    const service = testService({
      authenticate: async () => ({
        account_id: 'a',
        identity_id: 'u',
        identity_type: 'user',
        key_id: 'k',
        scopes: null,
      }),
    })
    const options = { method: 'DELETE', headers: { 'if-match': header } }
    expect((await send(service, '/notes/1', options)).status).toBe(status)
    expect((await service.fetch(request('/notes', { headers: { 'if-match': header } }))).status).toBe(200)
  })
})

test.each([
  ['"7"', true],
  ['W/"7"', true],
  ['"6", "7"', true],
  ['*', true],
  ['"8"', false],
  ['garbage', false],
])('If-None-Match %s knows revision 7: %s', (header, known) =>
  expect(isKnownTo(new Headers({ 'if-none-match': header }), '"7"')).toBe(known),
)
