import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { IntegrityError, KeyProviderUnavailable, UnknownKeyEncryptionKey } from '../errors.ts'
import type { ConfiguredKeyProvider } from '../key-provider.ts'
import { open, seal } from '../sealed.ts'
import type { FakeService, Outage } from './fake-service.ts'
import { CONTEXT, fixture } from './test-keys.ts'

export type ProviderUnderTest = {
  /** With two keys, `current` first. */
  current: ConfiguredKeyProvider
  /** The same two keys, the second first. */
  swapped: ConfiguredKeyProvider
}

const AAD = Buffer.from('place one')
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

/** What every provider promises, whoever holds the keys. */
export const describeProvider = (start: () => Promise<ProviderUnderTest>) => {
  describe('as every key provider', () => {
    test('gives back what it wrapped, to whoever names the key', async () => {
      const { current, swapped } = await start()
      const plain = randomBytes(32)
      const { kek_id, wrapped } = await current.wrap(plain, AAD)
      expect(kek_id).toBe(current.id)
      expect(await current.unwrap(kek_id, wrapped, AAD)).toEqual(plain)
      expect(await swapped.unwrap(kek_id, wrapped, AAD)).toEqual(plain)
      expect(swapped.id).not.toBe(current.id)
      expect(swapped.kek_ids.toSorted()).toEqual(current.kek_ids.toSorted())
    })

    test('refuses another place, other bytes and another key', async () => {
      const { current, swapped } = await start()
      const { kek_id, wrapped } = await current.wrap(randomBytes(32), AAD)
      const changed = Buffer.from(wrapped)
      changed[wrapped.length - 3]! ^= 4
      for (const attempt of [
        current.unwrap(kek_id, wrapped, Buffer.from('place two')),
        current.unwrap(kek_id, changed, AAD),
        current.unwrap(kek_id, wrapped.subarray(0, 40), AAD),
        current.unwrap(kek_id, Buffer.from('x'), AAD),
        current.unwrap(swapped.id, wrapped, AAD),
      ]) {
        expect(await failure(attempt)).toMatchObject({ name: 'IntegrityError', reason: 'wrapped_key' })
      }
    })

    test('never tries a key that was not named', async () => {
      const { current } = await start()
      const { wrapped } = await current.wrap(randomBytes(32), AAD)
      const error = await failure(current.unwrap('local:0000000000000000', wrapped, AAD))
      expect(error).toBeInstanceOf(UnknownKeyEncryptionKey)
      expect(error).toMatchObject({ wanted: 'local:0000000000000000', configured: current.kek_ids })
    })

    test('passes its own test and keeps accounts', async () => {
      const { current } = await start()
      await expect(current.selfTest()).resolves.toBeUndefined()
      const { keys, replica } = fixture(current)
      const sealed = await seal(keys, CONTEXT, Buffer.from('secret'))
      expect((await open(replica(), CONTEXT, sealed)).toString()).toBe('secret')
    })
  })
}

/** What every provider behind a network promises besides. @param busy what the service answers when it cannot serve now */
export const describeRemote = (
  start: () => Promise<{ provider: ConfiguredKeyProvider; fake: Pick<FakeService, 'outages' | 'requests'> }>,
  busy: Outage[],
) => {
  const begin = async () => {
    const { provider, fake } = await start()
    onTestFinished(() => {
      fake.outages.length = 0
    })
    return { provider, fake, ...(await provider.wrap(randomBytes(32), AAD)) }
  }

  describe('as every provider behind a network', () => {
    test.each(['cut' as const, 'hang' as const, { status: 500, body: '<html>' }, { status: 429, body: {} }, ...busy])(
      'one failure is made up for: %j',
      async (outage) => {
        const { provider, fake, kek_id, wrapped } = await begin()
        fake.outages.push(outage)
        await expect(provider.unwrap(kek_id, wrapped, AAD)).resolves.toHaveLength(32)
      },
    )

    test.each<Outage>([
      'cut',
      'hang',
      { status: 200, body: 'not JSON' },
      { status: 200, body: {} },
      { status: 403, body: {} },
      ...busy,
    ])('an outage is KeyProviderUnavailable, naming the key: %j', async (outage) => {
      const { provider, fake, kek_id, wrapped } = await begin()
      for (const attempt of [() => provider.wrap(randomBytes(32), AAD), () => provider.unwrap(kek_id, wrapped, AAD)]) {
        fake.outages.splice(0, Infinity, outage, outage, outage)
        const error = await failure(attempt())
        expect(error).toBeInstanceOf(KeyProviderUnavailable)
        expect(error).not.toBeInstanceOf(IntegrityError)
        expect(error).toMatchObject({ kek_id })
      }
    })
  })
}
