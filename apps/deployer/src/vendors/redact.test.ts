import { describe, expect, test } from 'vitest'
import { parseExactly, scalarText } from './exact-json.ts'
import { resolveEnvironment } from './environment.ts'
import { redact, secretsIn } from './redact.ts'

describe("a vendor's message", () => {
  test.each([
    ['a known secret', 'env A=hunter2-hunter2 is bad', 'env A=[redacted] is bad'],
    ['a bearer token', 'got Authorization: Bearer abcdefgh.ijkl', 'got Authorization: Bearer [redacted]'],
    ['a password in a URL', 'cannot pull https://bob:pw@reg.io/x', 'cannot pull https://[redacted]@reg.io/x'],
    ['a signed URL', 'GET s3.io/a?X-Amz-Signature=abc&b=1', 'GET s3.io/a?X-Amz-Signature=[redacted]&b=1'],
    ['an assignment', 'DB_PASSWORD=abc, rest', 'DB_PASSWORD=[redacted], rest'],
    ['a key by its prefix', 'key sk-abcdef123456 refused', 'key [redacted] refused'],
    ['a JSON web token', 'token eyJhbGciOiJIUzI1.eyJzdWIi.sig', 'token [redacted]'],
    ['an image digest', 'no sha256:0123456789abcdef0123456789abcdef', 'no sha256:0123456789abcdef0123456789abcdef'],
    ['control characters and lines', 'a\u0000b\r\n  c\u202Ed', 'a b c d'],
  ])('%s', (_case, message, shown) => {
    expect(redact(message, ['hunter2-hunter2'])).toBe(shown)
  })

  test('is cut to 500 characters, never inside a character', () => {
    const shown = redact('😀'.repeat(400), [])
    expect(shown.length).toBeLessThanOrEqual(500)
    expect(shown.isWellFormed()).toBe(true)
  })

  test('loses the longer of two secrets first, so that nothing of it stays', () => {
    expect(redact('x abcdef y', ['abc', 'abcdef'])).toBe('x [redacted] y')
  })

  test('a credential that is JSON is secret as a whole and in its strings', () => {
    expect(secretsIn('{"user":"bob","key":"long-enough"}')).toEqual([
      '{"user":"bob","key":"long-enough"}',
      'long-enough',
    ])
  })
})

describe('environment variables', () => {
  const resolve = async (account_id: string, name: string) => (name === 'known' ? `payload of ${account_id}` : null)

  test('scalars become text as they were written, null goes, references become payloads', async () => {
    const env_vars = parseExactly(
      '{"A":"x","B":1.0,"C":9007199254740993,"D":true,"E":null,"F":{"$credential":"known"}}',
    ) as Record<string, unknown>
    expect(await resolveEnvironment(resolve, 'acct_1', env_vars)).toEqual({
      variables: { A: 'x', B: '1.0', C: '9007199254740993', D: 'true', F: 'payload of acct_1' },
      secrets: ['payload of acct_1'],
    })
  })

  test.each([
    ['unknown', { A: { $credential: 'unknown' } }, { reason: 'credential_not_found', retryable: false }],
    ['nested', { A: { b: 1 } }, { reason: 'vendor_rejected', retryable: false }],
  ])('%s -> refused', async (_case, env_vars, error) => {
    await expect(resolveEnvironment(resolve, 'acct_1', env_vars)).rejects.toMatchObject(error)
  })

  test('credentials that cannot be read now are tried again later', async () => {
    const away = async () => Promise.reject(new Error('no database'))
    const error = { reason: 'credential_unavailable', retryable: true }
    await expect(resolveEnvironment(away, 'acct_1', { A: { $credential: 'known' } })).rejects.toMatchObject(error)
  })
})

test('numbers leave as they came', () => {
  const text = '{"a":1.0,"b":1e400,"c":9007199254740993,"d":[2,0.10]}'
  expect(JSON.stringify(parseExactly(text))).toBe(text)
  expect(scalarText((parseExactly(text) as { b: unknown }).b)).toBe('1e400')
})
