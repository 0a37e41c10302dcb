import { describe, expect, test } from 'vitest'
import { open, sealUsing } from './sealed.ts'
import { openAgain } from './testing/second-implementation.ts'
import { CONTEXT, countedKey, knownKeys } from './testing/test-keys.ts'

/** Records of format v1 as they were written on the first day. They must open for ever: never edit one, only add. */
const FORMAT_1 = [
  {
    version: 1,
    context: CONTEXT,
    plaintext: '',
    sealed:
      '4b53010100000001808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9ffe31deff2bcce47030a868598788fdeb90c95ca92a68e9c1e4115576df370056808182838485868788898a8bb12c66fb8e9e87bd58ac26685f69b55e',
  },
  {
    version: 1,
    context: CONTEXT,
    plaintext: 'a secret',
    sealed:
      '4b53010100000001808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9ffe31deff2bcce47030a868598788fdeb90c95ca92a68e9c1e4115576df370056808182838485868788898a8b06b63c558187a3737c8fc1067ae0f1f203499672595d7185',
  },
  {
    version: 4_294_967_295,
    context: {
      purpose: 'webhook.secret',
      account_id: 'acct_ü',
      record_id: '鍵 🔑',
      record_version: 9_007_199_254_740_991,
    },
    plaintext: 'naïve 秘密',
    sealed:
      '4b530101ffffffff808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f850a82b9770c35d8df0e96b1a906c4d8c38cf22a5eef7f7a7a53a5bb2f635c72808182838485868788898a8b1533b0ba0b534b62a9f53db6e070cb36c233d04ac020c56adaf547d75c',
  },
]

const counting = (size: number) => Buffer.from(Array.from({ length: size }, (_, at) => 0x80 + at))

describe.each(FORMAT_1)('format v1, "$plaintext"', ({ version, context, plaintext, sealed }) => {
  const key = countedKey(version % 8)
  const one = { version, key }
  const keys = { ...knownKeys(1), active: async () => one, version: async () => one }

  test('opens, here and in the second implementation', async () => {
    const record = Buffer.from(sealed, 'hex')
    expect((await open(keys, context, record)).toString()).toBe(plaintext)
    expect(openAgain(key.export(), context, record).toString()).toBe(plaintext)
  })

  test('is what sealing with the same salt and IV writes today', async () => {
    expect((await sealUsing(counting)(keys, context, Buffer.from(plaintext))).toString('hex')).toBe(sealed)
  })
})
