import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeyConfigurationError } from '../errors.ts'
import { startVaultTransit } from '../testing/fake-vault-transit.ts'
import { describeProvider, describeRemote } from '../testing/provider-contract.ts'
import { vaultTransitProvider, type VaultTransitSettings } from './vault-transit.ts'

let fake: Awaited<ReturnType<typeof startVaultTransit>>
beforeAll(async () => {
  fake = await startVaultTransit()
})
afterAll(() => fake.close())

const provider = (settings: Partial<VaultTransitSettings> = {}) =>
  vaultTransitProvider({
    address: fake.url,
    key: 'keelson',
    previous: ['former'],
    token: { value: fake.settings.token },
    timeoutMs: 1000,
    ...settings,
  })

describeProvider(async () => ({ current: provider(), swapped: provider({ key: 'former', previous: ['keelson'] }) }))
describeRemote(async () => ({ provider: provider(), fake }), [{ status: 503, body: { errors: ['Vault is sealed'] } }])

const AAD = Buffer.from('place')

test("keys are named by mount and name, and keep the engine's own text", async () => {
  const { kek_id, wrapped } = await provider().wrap(randomBytes(32), AAD)
  expect(kek_id).toBe('vault-transit:transit/keelson')
  expect(wrapped.toString()).toMatch(/^vault:v1:[\w+/]+=*$/)
})

test('a key turned inside the engine still unwraps, until the engine forbids it', async () => {
  const plain = randomBytes(32)
  const current = provider()
  const { kek_id, wrapped } = await current.wrap(plain, AAD)
  fake.rotate('keelson')
  expect(await current.unwrap(kek_id, wrapped, AAD)).toEqual(plain)
  fake.keys.get('keelson')!.min_decryption_version = 2
  await expect(current.unwrap(kek_id, wrapped, AAD)).rejects.toThrow('too old')
})

describe('refusals of the engine are outages, not damage', () => {
  test('a wrong token', async () => {
    await expect(provider({ token: { value: 'wrong' } }).selfTest()).rejects.toThrow('answered 403 permission denied')
  })

  test('a key that does not exist', async () => {
    await expect(
      provider().unwrap('vault-transit:transit/former', Buffer.from('vault:v1:AAAA'), AAD),
    ).rejects.toMatchObject({ reason: 'wrapped_key' })
    const other = provider({ key: 'nobody' })
    await expect(other.unwrap('vault-transit:transit/nobody', Buffer.from('vault:v1:AAAA'), AAD)).rejects.toThrow(
      'encryption key not found',
    )
  })

  test('an engine mounted elsewhere', async () => {
    await expect(provider({ mount: 'other' }).selfTest()).rejects.toThrow('answered 404')
  })
})

test('a token file is read for every call, so that an agent can renew it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-vault-'))
  const file = join(directory, 'token')
  await writeFile(file, 'old')
  const current = provider({ token: { file } })
  await expect(current.selfTest()).rejects.toThrow('403')
  await writeFile(file, `${fake.settings.token}\n`)
  await current.selfTest()
  await rm(directory, { recursive: true })
})

test('a token that cannot be sent is not quoted', async () => {
  const error: unknown = await provider({ token: { value: 'hvs.hidden\nvalue' } })
    .selfTest()
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'KeyProviderUnavailable' })
  expect(inspect(error)).not.toContain('hidden')
})

test('namespaces and deep mounts are passed on', async () => {
  await using other = await startVaultTransit('teams/one/transit')
  other.settings.namespace = 'team-one'
  const current = provider({ address: `${other.url}/`, mount: 'teams/one/transit', namespace: 'team-one' })
  await expect(current.selfTest()).resolves.toBeUndefined()
})

test('an engine that ignores associated data fails the self-test', async () => {
  fake.settings.ignoresAssociatedData = true
  await expect(provider().selfTest()).rejects.toThrow('does not authenticate additional data')
  fake.settings.ignoresAssociatedData = false
})

test.each(['', '../sys/seal', 'a/b', 'a b'])('a key name cannot leave its path: "%s"', (key) => {
  expect(() => provider({ key })).toThrow(KeyConfigurationError)
})
