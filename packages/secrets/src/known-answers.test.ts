import { gcm } from '@noble/ciphers/aes.js'
import { createHmac, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { decryptGcm, encryptGcm } from './aes-gcm.ts'
import { hkdf } from './testing/second-implementation.ts'

const hex = (text: string) => Buffer.from(text, 'hex')

/** McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B, test cases with 256-bit keys. */
const GCM = [
  {
    name: '13',
    key: '00'.repeat(32),
    iv: '00'.repeat(12),
    aad: '',
    plain: '',
    cipher: '',
    tag: '530f8afbc74536b9a963b4f1c4cb738b',
  },
  {
    name: '14',
    key: '00'.repeat(32),
    iv: '00'.repeat(12),
    aad: '',
    plain: '00'.repeat(16),
    cipher: 'cea7403d4d606b6e074ec5d3baf39d18',
    tag: 'd0d1c8a799996bf0265b98b5d48ab919',
  },
  {
    name: '16',
    key: 'feffe9928665731c6d6a8f9467308308'.repeat(2),
    iv: 'cafebabefacedbaddecaf888',
    aad: 'feedfacedeadbeeffeedfacedeadbeefabaddad2',
    plain:
      'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
    cipher:
      '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662',
    tag: '76fc6ece0f4e1768cddf8853bb2d551b',
  },
]

describe.each(GCM)('AES-256-GCM test case $name', ({ key, iv, aad, plain, cipher, tag }) => {
  test('is what we produce, open, and the second implementation produces', () => {
    const sealed = hex(cipher + tag)
    expect(encryptGcm(hex(key), hex(iv), hex(aad), hex(plain)).toString('hex')).toBe(cipher + tag)
    expect(decryptGcm(hex(key), hex(iv), hex(aad), sealed).toString('hex')).toBe(plain)
    expect(Buffer.from(gcm(hex(key), hex(iv), hex(aad)).encrypt(hex(plain))).toString('hex')).toBe(cipher + tag)
  })

  test.each([4, 8, 12, 13, 14, 15])('does not open with its tag cut to %i bytes', (length) => {
    const short = hex(cipher + tag).subarray(0, cipher.length / 2 + length)
    expect(() => decryptGcm(hex(key), hex(iv), hex(aad), short)).toThrow(
      expect.objectContaining({ name: 'IntegrityError' }),
    )
  })
})

const counted = (from: number, to: number) => Buffer.from(Array.from({ length: to - from + 1 }, (_, at) => from + at))

/** RFC 5869, appendix A. */
const HKDF = [
  {
    name: 'A.1',
    ikm: Buffer.alloc(22, 0x0b),
    salt: counted(0, 0x0c),
    info: counted(0xf0, 0xf9),
    okm: '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
  },
  {
    name: 'A.2',
    ikm: counted(0, 0x4f),
    salt: counted(0x60, 0xaf),
    info: counted(0xb0, 0xff),
    okm: 'b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87',
  },
  {
    name: 'A.3',
    ikm: Buffer.alloc(22, 0x0b),
    salt: Buffer.alloc(0),
    info: Buffer.alloc(0),
    okm: '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
  },
]

test.each(HKDF)('HKDF of RFC 5869 $name', ({ ikm, salt, info, okm }) => {
  const length = okm.length / 2
  expect(Buffer.from(hkdfSync('sha256', ikm, salt, info, length)).toString('hex')).toBe(okm)
  expect(hkdf('sha256', ikm, salt, info, length).toString('hex')).toBe(okm)
})

/** RFC 4231, test cases 1 and 2. */
const HMAC = [
  {
    key: Buffer.alloc(20, 0x0b),
    data: 'Hi There',
    sha256: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    sha512:
      '87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854',
  },
  {
    key: Buffer.from('Jefe'),
    data: 'what do ya want for nothing?',
    sha256: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    sha512:
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
  },
]

test.each(HMAC)('HMAC of RFC 4231: $data', ({ key, data, sha256, sha512 }) => {
  expect(createHmac('sha256', key).update(data).digest('hex')).toBe(sha256)
  expect(createHmac('sha512', key).update(data).digest('hex')).toBe(sha512)
})
