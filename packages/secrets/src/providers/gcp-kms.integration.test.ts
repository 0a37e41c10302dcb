import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeyConfigurationError } from '../errors.ts'
import { KEY_NAME, OLD_KEY_NAME, startGcpKms } from '../testing/fake-gcp-kms.ts'
import type { FakeAnswer } from '../testing/fake-service.ts'
import { describeProvider, describeRemote } from '../testing/provider-contract.ts'
import { gcpKmsProvider } from './gcp-kms.ts'
import type { GcpCredentialSource } from './gcp-token.ts'

let fake: Awaited<ReturnType<typeof startGcpKms>>
let directory: string
let key_file: string
beforeAll(async () => {
  fake = await startGcpKms()
  directory = await mkdtemp(join(tmpdir(), 'keelson-gcp-'))
  key_file = join(directory, 'account.json')
  await writeFile(key_file, JSON.stringify(fake.account))
})
afterAll(async () => {
  await fake.close()
  await rm(directory, { recursive: true })
})

const provider = (
  key = KEY_NAME,
  previous = [OLD_KEY_NAME],
  credentials: GcpCredentialSource = { source: 'metadata', endpoint: fake.url },
) => gcpKmsProvider({ key, previous, credentials, endpoint: fake.url, timeoutMs: 1000 })

describeProvider(async () => ({ current: provider(), swapped: provider(OLD_KEY_NAME, [KEY_NAME]) }))
describeRemote(
  async () => ({ provider: provider(), fake }),
  [
    { status: 503, body: { error: { code: 503, status: 'UNAVAILABLE', message: 'try later' } } },
    {
      status: 400,
      body: {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'The checksum in field ciphertext_crc32c did not match the data in field ciphertext.',
        },
      },
    },
  ],
)

const AAD = Buffer.from('place')

/** Changes what the service answers to requests with this ending, until the callback is over. */
const tampered = async (
  ending: string,
  change: (body: Record<string, unknown>) => object,
  during: () => Promise<void>,
) => {
  const { answer } = fake.state
  fake.state.answer = (request): FakeAnswer => {
    const given = answer(request)
    return request.path.endsWith(ending) ? { ...given, body: change({ ...(given.body as object) }) } : given
  }
  await during().finally(() => {
    fake.state.answer = answer
  })
}

describe('damage on the way is found and never passed on', () => {
  const other = randomBytes(32).toString('base64')
  test.each([
    ['the plaintext was not verified', (body: object) => ({ ...body, verifiedPlaintextCrc32c: false })],
    [
      'the additional data was not verified',
      (body: object) => ({ ...body, verifiedAdditionalAuthenticatedDataCrc32c: undefined }),
    ],
    ['the ciphertext was changed', (body: object) => ({ ...body, ciphertext: other })],
    ['the ciphertext has no checksum', (body: object) => ({ ...body, ciphertextCrc32c: undefined })],
    ['another key answered', (body: object) => ({ ...body, name: `${OLD_KEY_NAME}/cryptoKeyVersions/3` })],
  ])('encrypt: %s', (_, change) =>
    tampered(':encrypt', change, () =>
      expect(provider().wrap(randomBytes(32), AAD)).rejects.toMatchObject({ name: 'KeyProviderUnavailable' }),
    ),
  )

  test.each([
    ['the plaintext was changed', (body: object) => ({ ...body, plaintext: other })],
    ['the plaintext has no checksum', (body: object) => ({ ...body, plaintextCrc32c: undefined })],
  ])('decrypt: %s', async (_, change) => {
    const { kek_id, wrapped } = await provider().wrap(randomBytes(32), AAD)
    await tampered(':decrypt', change, () =>
      expect(provider().unwrap(kek_id, wrapped, AAD)).rejects.toMatchObject({ name: 'KeyProviderUnavailable' }),
    )
  })
})

describe('access tokens', () => {
  test('come from a service-account key, signed as Google wants it', async () => {
    const current = provider(KEY_NAME, [], { source: 'service_account', key_file })
    await expect(current.selfTest()).resolves.toBeUndefined()
  })

  test('are asked for once and kept, and again when refused', async () => {
    const current = provider()
    const before = fake.tokens.issued
    await current.selfTest()
    expect(fake.tokens.issued - before).toBe(1)
    fake.tokens.valid = 'revoked'
    await current.selfTest()
    expect(fake.tokens.issued - before).toBe(2)
  })

  test('are taken from the metadata server only', async () => {
    fake.outages.push(
      ...Array.from({ length: 3 }, () => ({ status: 200, body: { access_token: 'stolen', expires_in: 3600 } })),
    )
    await expect(provider().selfTest()).rejects.toMatchObject({ name: 'KeyProviderUnavailable' })
  })

  test.each([
    '{}',
    'not JSON',
    JSON.stringify({ private_key: 'PRIVATE', client_email: 'a', private_key_id: 'b', token_uri: 'c' }),
  ])('a malformed service-account key is refused without being quoted: %s', async (text) => {
    const wrong = join(directory, 'wrong.json')
    await writeFile(wrong, text)
    const error: unknown = await provider(KEY_NAME, [], { source: 'service_account', key_file: wrong })
      .selfTest()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(KeyConfigurationError)
    expect(String((error as Error).stack)).not.toContain('PRIVATE')
  })
})

test.each([`${KEY_NAME}/cryptoKeyVersions/1`, 'account-keys', ''])(
  'a key is named by its resource name, not by "%s"',
  (key) => {
    expect(() => provider(key)).toThrow(KeyConfigurationError)
  },
)
