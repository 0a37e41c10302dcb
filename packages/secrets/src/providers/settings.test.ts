import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KeyConfigurationError } from '../errors.ts'
import { ARN, OLD_ARN, startAwsKms } from '../testing/fake-aws-kms.ts'
import { KEY_NAME } from '../testing/fake-gcp-kms.ts'
import { createKeyFile } from './key-file.ts'
import { generateKey } from './local-keys.ts'
import { keyProvider } from './key-provider-from-settings.ts'
import { keyProviderSettings } from './settings.ts'

const keyOf = (error: unknown) => error instanceof KeyConfigurationError && error.message

describe('which provider wraps', () => {
  test.each([
    [{ KEY_FILE: '/keys' }, { provider: 'file', path: '/keys', former: [] }],
    [
      { KEY_ENCRYPTION_KEYS: 'k', KEY_PROVIDER: '' },
      { provider: 'environment', keys: 'k', former: [] },
    ],
    [
      { KEY_PROVIDER: 'environment', KEY_ENCRYPTION_KEYS: 'k', KEY_FILE: '/keys' },
      { provider: 'environment', keys: 'k', former: [{ provider: 'file', path: '/keys' }] },
    ],
  ])('%o', (env, settings) => {
    expect(keyProviderSettings(env)).toEqual(settings)
  })

  test.each([
    [{}, 'one of KEY_FILE, KEY_ENCRYPTION_KEYS, AWS_KMS_KEY, GCP_KMS_KEY, VAULT_TRANSIT_KEY must be set'],
    [{ KEY_FILE: 'f', GCP_KMS_KEY: 'k' }, 'KEY_PROVIDER must say which one wraps'],
    [
      { KEY_PROVIDER: 'hsm', KEY_FILE: 'f' },
      'KEY_PROVIDER must be one of file, environment, aws-kms, gcp-kms, vault-transit',
    ],
    [{ KEY_PROVIDER: 'file', KEY_ENCRYPTION_KEYS: 'k' }, 'KEY_FILE must be set'],
    [{ KEY_PROVIDER: 'vault-transit', VAULT_TRANSIT_KEY: 'k' }, 'VAULT_ADDR must be set'],
    [{ AWS_KMS_KEY: ARN, AWS_ACCESS_KEY_ID: 'id' }, 'AWS_SECRET_ACCESS_KEY must be set'],
  ])('%o is refused with a word about what is missing', (env, message) => {
    let error: unknown
    try {
      keyProviderSettings(env)
    } catch (thrown) {
      error = thrown
    }
    expect(keyOf(error)).toContain(message)
  })
})

describe('settings of the services', () => {
  test('AWS KMS, with credentials from where AWS puts them', () => {
    const env = { AWS_KMS_KEY: ARN, AWS_KMS_PREVIOUS_KEYS: OLD_ARN, AWS_REGION: 'eu-central-1' }
    const credentialsWith = (more: object) => keyProviderSettings({ ...env, ...more })
    expect(credentialsWith({})).toMatchObject({ key: ARN, previous: [OLD_ARN], credentials: { source: 'instance' } })
    expect(credentialsWith({ AWS_ROLE_ARN: 'r', AWS_WEB_IDENTITY_TOKEN_FILE: 't' })).toMatchObject({
      credentials: { source: 'web_identity', role_arn: 'r', token_file: 't', region: 'eu-central-1' },
    })
    expect(credentialsWith({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/x' })).toMatchObject({
      credentials: { source: 'container', url: 'http://169.254.170.2/v2/x' },
    })
    expect(
      credentialsWith({
        AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://h/x',
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: 't',
      }),
    ).toMatchObject({
      credentials: { source: 'container', url: 'http://h/x', token_file: 't' },
    })
    expect(credentialsWith({ AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's' })).toMatchObject({
      credentials: { source: 'static', access_key_id: 'i', secret_access_key: 's' },
    })
  })

  test('GCP KMS and Vault transit', () => {
    expect(keyProviderSettings({ GCP_KMS_KEY: KEY_NAME })).toMatchObject({
      provider: 'gcp-kms',
      credentials: { source: 'metadata' },
    })
    expect(keyProviderSettings({ GCP_KMS_KEY: KEY_NAME, GOOGLE_APPLICATION_CREDENTIALS: '/a.json' })).toMatchObject({
      credentials: { source: 'service_account', key_file: '/a.json' },
    })
    expect(
      keyProviderSettings({
        VAULT_TRANSIT_KEY: 'k',
        VAULT_ADDR: 'http://v',
        VAULT_TOKEN: 't',
        VAULT_TRANSIT_PREVIOUS_KEYS: 'a, b',
      }),
    ).toMatchObject({
      provider: 'vault-transit',
      address: 'http://v',
      token: { value: 't' },
      previous: ['a', 'b'],
    })
  })
})

test('an installation moves from a file to a service and back: what is switched on besides still unwraps', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-move-'))
  const path = join(directory, 'keys')
  await createKeyFile(path)
  await using kms = await startAwsKms()
  const { access_key_id, secret_access_key, session_token } = kms.identity
  const aws = {
    AWS_KMS_KEY: ARN,
    AWS_KMS_ENDPOINT: kms.url,
    AWS_ACCESS_KEY_ID: access_key_id,
    AWS_SECRET_ACCESS_KEY: secret_access_key,
    AWS_SESSION_TOKEN: session_token,
  }
  const env = { ...aws, KEY_FILE: path }
  const before = await keyProvider(keyProviderSettings({ ...env, KEY_PROVIDER: 'file' }))
  const after = await keyProvider(keyProviderSettings({ ...env, KEY_PROVIDER: 'aws-kms' }))
  const aad = Buffer.from('place')
  const { kek_id, wrapped } = await before.wrap(Buffer.alloc(32, 7), aad)
  expect(await after.unwrap(kek_id, wrapped, aad)).toEqual(Buffer.alloc(32, 7))
  expect(after.kek_ids).toEqual([`aws-kms:${ARN}`, kek_id])
  const moved = await after.wrap(Buffer.alloc(32, 8), aad)
  expect(await before.unwrap(moved.kek_id, moved.wrapped, aad)).toEqual(Buffer.alloc(32, 8))
  const alone = await keyProvider(keyProviderSettings(aws))
  await expect(alone.unwrap(kek_id, wrapped, aad)).rejects.toThrow(
    `wanted key-encryption key ${kek_id}; configured: aws-kms:${ARN}`,
  )
  await rm(directory, { recursive: true })
})

test('a key keeps its id when it moves from a file into the environment', async () => {
  const key = generateKey()
  const provider = await keyProvider({ provider: 'environment', keys: key })
  expect(provider.id).toBe(`local:${key.split(':')[0]}`)
})
