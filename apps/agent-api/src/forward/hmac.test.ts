import { createHmac, createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hmac, isSameMac } from './hmac.ts'

// RFC 4231, test cases 1 to 4, 6 and 7.
test.each([
  ['0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  ['4a656665', 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  ['aa'.repeat(20), Buffer.alloc(50, 0xdd), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
  [
    '0102030405060708090a0b0c0d0e0f10111213141516171819',
    Buffer.alloc(50, 0xcd),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    'aa'.repeat(131),
    'Test Using Larger Than Block-Size Key - Hash Key First',
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    'aa'.repeat(131),
    'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
])('the vector of RFC 4231 with the key %s', (key, data, mac) => {
  expect(hmac(createSecretKey(key, 'hex'), '', Buffer.from(data as string), 'hex')).toBe(mac)
})

describe('it is what node:crypto makes', () => {
  const bytes = (maxLength: number, minLength = 0) =>
    fc.uint8Array({ minLength, maxLength }).map((array) => Buffer.from(array))

  test.each([63, 64, 65])('of a key of %i bytes, where a block has 64', (length) => {
    const key = createSecretKey(Buffer.alloc(length, 'k'))
    expect(hmac(key, '', Buffer.from('body'), 'hex')).toBe(createHmac('sha256', key).update('body').digest('hex'))
  })

  test('of any key, prefix and body, short or long, one after the other', () => {
    const body = fc.oneof(
      bytes(200),
      fc.integer({ min: 16_000, max: 17_000 }).map((size) => Buffer.alloc(size, 'x')),
    )
    fc.assert(
      fc.property(bytes(130, 1), fc.string({ unit: 'binary' }), body, (key, prefix, body) => {
        const secret = createSecretKey(key)
        for (const encoding of ['hex', 'base64'] as const) {
          const expected = createHmac('sha256', secret).update(prefix).update(body).digest(encoding)
          expect(hmac(secret, prefix, body, encoding)).toBe(expected)
        }
      }),
    )
  })
})

test('codes are the same only when they are, and a missing one never is', () => {
  expect([isSameMac('abc=', 'abc='), isSameMac('abc=', 'abd='), isSameMac('abc=', undefined)]).toEqual([
    true,
    false,
    false,
  ])
})
