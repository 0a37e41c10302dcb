import { randomBytes, timingSafeEqual } from 'node:crypto'
import { IntegrityError, KeyConfigurationError, UnknownKeyEncryptionKey } from './errors.ts'

/** Whoever holds the key-encryption keys: they wrap account keys and are never seen here when the holder is a service. */
export type KeyProvider = {
  /** `provider:label` of the current key. */
  id: string
  /** Wraps under the current key. @throws KeyProviderUnavailable */
  wrap(plain: Buffer, aad: Buffer): Promise<{ kek_id: string; wrapped: Buffer }>
  /** Unwraps with exactly the key named. @throws KeyProviderUnavailable, UnknownKeyEncryptionKey, IntegrityError */
  unwrap(kek_id: string, wrapped: Buffer, aad: Buffer): Promise<Buffer>
  /** Proves that the current key wraps, unwraps and refuses another `aad`; for boot. */
  selfTest(): Promise<void>
}

/** A provider that also names every key it can unwrap with, the current one first. */
export type ConfiguredKeyProvider = KeyProvider & { kek_ids: readonly string[] }

/** What a kind of provider must do: both are told the label of the key to use. */
export type KeyOperations = {
  encrypt(label: string, plain: Buffer, aad: Buffer): Promise<Buffer>
  decrypt(label: string, wrapped: Buffer, aad: Buffer): Promise<Buffer>
}

const selfTest = async (provider: KeyProvider): Promise<void> => {
  const value = randomBytes(32)
  const { kek_id, wrapped } = await provider.wrap(value, Buffer.from('self-test'))
  const back = await provider.unwrap(kek_id, wrapped, Buffer.from('self-test'))
  if (back.length !== value.length || !timingSafeEqual(back, value)) {
    throw new KeyConfigurationError(`${kek_id} did not give back what it wrapped`)
  }
  try {
    await provider.unwrap(kek_id, wrapped, Buffer.from('another place'))
  } catch (error) {
    if (error instanceof IntegrityError) return
    throw error
  }
  throw new KeyConfigurationError(`${kek_id} does not authenticate additional data`)
}

/** Keys of one kind behind the {@link KeyProvider} interface. @param labels the current key's first, then readable ones */
export const providerOf = (
  name: string,
  labels: readonly string[],
  operations: KeyOperations,
): ConfiguredKeyProvider => {
  const kek_ids = labels.map((label) => `${name}:${label}`)
  const [current] = labels
  const [id] = kek_ids
  if (current === undefined || id === undefined) throw new KeyConfigurationError(`${name}: no key is configured`)
  const provider: ConfiguredKeyProvider = {
    id,
    kek_ids,
    wrap: async (plain, aad) => ({ kek_id: id, wrapped: await operations.encrypt(current, plain, aad) }),
    unwrap: async (kek_id, wrapped, aad) => {
      const label = labels[kek_ids.indexOf(kek_id)]
      if (label === undefined) throw new UnknownKeyEncryptionKey(kek_id, kek_ids)
      try {
        return await operations.decrypt(label, wrapped, aad)
      } catch (error) {
        if (!(error instanceof IntegrityError)) throw error
        throw new IntegrityError('wrapped_key', `wrapped key is not what ${kek_id} wrapped for this place`, {
          cause: error,
        })
      }
    },
    selfTest: () => selfTest(provider),
  }
  return provider
}

/** Wraps with one provider, unwraps with whichever of them has the key named: how an installation moves between kinds. */
export const withPrevious = (
  current: ConfiguredKeyProvider,
  previous: readonly ConfiguredKeyProvider[],
): ConfiguredKeyProvider => {
  const all = [current, ...previous]
  const kek_ids = all.flatMap((provider) => provider.kek_ids)
  return {
    ...current,
    kek_ids,
    unwrap: async (kek_id, wrapped, aad) => {
      const holder = all.find((provider) => provider.kek_ids.includes(kek_id))
      if (!holder) throw new UnknownKeyEncryptionKey(kek_id, kek_ids)
      return holder.unwrap(kek_id, wrapped, aad)
    },
  }
}
