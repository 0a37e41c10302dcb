import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeyConfigurationError } from '../errors.ts'
import { ARN, OLD_ARN, startAwsKms } from '../testing/fake-aws-kms.ts'
import { describeProvider, describeRemote } from '../testing/provider-contract.ts'
import { awsKmsProvider } from './aws-kms.ts'

let fake: Awaited<ReturnType<typeof startAwsKms>>
beforeAll(async () => {
  fake = await startAwsKms()
})
afterAll(() => fake.close())

const provider = (key = ARN, previous = [OLD_ARN]) =>
  awsKmsProvider({
    key,
    previous,
    credentials: { source: 'static', ...fake.identity },
    endpoint: fake.url,
    timeoutMs: 1000,
  })

describeProvider(async () => ({ current: provider(), swapped: provider(OLD_ARN, [ARN]) }))
describeRemote(
  async () => ({ provider: provider(), fake }),
  [
    { status: 400, body: { __type: 'ThrottlingException', message: 'Rate exceeded' } },
    { status: 500, body: { __type: 'KMSInternalException' } },
  ],
)

const AAD = Buffer.from('place')

test('sends ids and the wrapped key, never more than base64 of the additional data as encryption context', async () => {
  const current = provider()
  const { kek_id, wrapped } = await current.wrap(randomBytes(32), AAD)
  await current.unwrap(kek_id, wrapped, AAD)
  const [encrypt, decrypt] = fake.requests.slice(-2).map(({ body }) => JSON.parse(body) as object)
  expect(kek_id).toBe(`aws-kms:${ARN}`)
  expect(encrypt).toMatchObject({ KeyId: ARN, EncryptionContext: { 'keelson:aad': AAD.toString('base64') } })
  expect(decrypt).toEqual({
    KeyId: ARN,
    CiphertextBlob: wrapped.toString('base64'),
    EncryptionContext: { 'keelson:aad': AAD.toString('base64') },
  })
})

describe('refusals of AWS are outages, not damage', () => {
  test.each(['NotFoundException', 'DisabledException', 'AccessDeniedException', 'KMSInvalidStateException'])(
    '%s',
    async (type) => {
      const current = provider()
      const { kek_id, wrapped } = await current.wrap(randomBytes(32), AAD)
      fake.outages.push({ status: 400, body: { __type: `com.amazonaws.kms#${type}` } })
      await expect(current.unwrap(kek_id, wrapped, AAD)).rejects.toThrow(`key provider of ${kek_id}: ${type}`)
    },
  )

  test('wrong credentials', async () => {
    const stranger = awsKmsProvider({
      key: ARN,
      credentials: { source: 'static', ...fake.identity, secret_access_key: 'another' },
      endpoint: fake.url,
    })
    await expect(stranger.selfTest()).rejects.toThrow('InvalidSignatureException')
  })

  test('an answer for another key', async () => {
    fake.outages.push({ status: 200, body: { KeyId: OLD_ARN, CiphertextBlob: 'AAAA' } })
    await expect(provider().wrap(randomBytes(32), AAD)).rejects.toThrow('for another key')
  })
})

test.each([
  'alias/keelson',
  'arn:aws:kms:eu-central-1:111122223333:alias/keelson',
  '1234abcd-12ab-34cd-56ef-1234567890ab',
  '',
])('a key is named by its ARN, not by "%s"', (key) => {
  expect(() => provider(key)).toThrow(KeyConfigurationError)
  expect(() => provider(ARN, [key])).toThrow(KeyConfigurationError)
})
