import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFake, type FakeAnswer, type FakeRequest } from '../testing/fake-service.ts'
import { ARN, startAwsKms } from '../testing/fake-aws-kms.ts'
import { awsCredentials, type AwsCredentialSource } from './aws-credentials.ts'
import { awsKmsProvider } from './aws-kms.ts'

const soon = () => new Date(Date.now() + 3_600_000)
const role = (session: string) => ({
  Code: 'Success',
  AccessKeyId: 'ASIA1',
  SecretAccessKey: 'role secret',
  Token: session,
  Expiration: soon().toISOString(),
})

/** The endpoints that hand out role credentials: container, STS and instance metadata, version 2 only. */
const answer = ({ method, path, headers, body }: FakeRequest): FakeAnswer => {
  if (path === '/container')
    return headers.authorization === 'pod token' ? { status: 200, body: role('container') } : { status: 401, body: {} }
  if (path === '/latest/api/token') {
    return method === 'PUT' && headers['x-aws-ec2-metadata-token-ttl-seconds']
      ? { status: 200, body: 'v2 token' }
      : { status: 405, body: '' }
  }
  if (path.startsWith('/latest/meta-data/')) {
    if (headers['x-aws-ec2-metadata-token'] !== 'v2 token') return { status: 401, body: '' }
    return {
      status: 200,
      body: path.endsWith('/') ? 'node role' : role(path.endsWith('/node%20role') ? 'instance' : ''),
    }
  }
  const form = Object.fromEntries(new URLSearchParams(body))
  const expected = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: 'arn:role',
    WebIdentityToken: 'pod token',
  }
  const right =
    Object.entries(expected).every(([name, value]) => form[name] === value) && headers.accept === 'application/json'
  const { Token: SessionToken, ...rest } = role('web')
  const Credentials = { ...rest, SessionToken, Expiration: soon().getTime() / 1000 }
  return right
    ? { status: 200, body: { AssumeRoleWithWebIdentityResponse: { AssumeRoleWithWebIdentityResult: { Credentials } } } }
    : { status: 400, body: {} }
}

let fake: Awaited<ReturnType<typeof startFake>>
let directory: string
let token_file: string
beforeAll(async () => {
  fake = await startFake(answer)
  directory = await mkdtemp(join(tmpdir(), 'keelson-aws-'))
  token_file = join(directory, 'token')
  await writeFile(token_file, 'pod token\n')
})
afterAll(async () => {
  await fake.close()
  await rm(directory, { recursive: true })
})

const sources = (): Record<string, AwsCredentialSource> => ({
  container: { source: 'container', url: `${fake.url}/container`, token_file },
  web: { source: 'web_identity', role_arn: 'arn:role', token_file, region: 'eu-central-1', endpoint: fake.url },
  instance: { source: 'instance', endpoint: fake.url },
})

describe('credentials of a role', () => {
  test.each(['container', 'web', 'instance'])('come from the %s', async (kind) => {
    const credentials = await awsCredentials(sources()[kind]!).current()
    expect(credentials).toEqual({ access_key_id: 'ASIA1', secret_access_key: 'role secret', session_token: kind })
  })

  test('are asked for once by many, and kept', async () => {
    const { current } = awsCredentials(sources().container!)
    const before = fake.requests.length
    await Promise.all([current(), current(), current()])
    await current()
    expect(fake.requests.length - before).toBe(1)
  })

  test('are asked for again after a failure, or when dropped', async () => {
    const held = awsCredentials(sources().container!)
    fake.outages.push({ status: 500, body: {} }, { status: 200, body: 'garbage' })
    await expect(held.current()).rejects.toThrow('answered 500')
    await expect(held.current()).rejects.toThrow('holds none')
    await held.current()
    held.drop()
    const before = fake.requests.length
    await held.current()
    expect(fake.requests.length - before).toBe(1)
  })

  test('sign requests to KMS', async () => {
    await using kms = await startAwsKms({
      access_key_id: 'ASIA1',
      secret_access_key: 'role secret',
      session_token: 'container',
    })
    const provider = awsKmsProvider({ key: ARN, credentials: sources().container!, endpoint: kms.url })
    await expect(provider.selfTest()).resolves.toBeUndefined()
  })

  test('that cannot be had make the provider unavailable', async () => {
    const credentials = { source: 'container', url: `${fake.url}/container`, token_file: '/none' } as const
    const provider = awsKmsProvider({ key: ARN, credentials, endpoint: fake.url, timeoutMs: 300 })
    await expect(provider.selfTest()).rejects.toMatchObject({ name: 'KeyProviderUnavailable' })
  })
})
