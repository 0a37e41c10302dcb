import { createSecretKey } from 'node:crypto'
import { accountKeys, type AccountKeys } from '../account-keys.ts'
import { IntegrityError, KeyProviderUnavailable } from '../errors.ts'
import type { KeyProvider } from '../key-provider.ts'
import { generateKey, parseKeys } from '../providers/local-keys.ts'
import { localProvider } from '../providers/local.ts'
import type { SealContext } from '../sealed.ts'
import { memoryStore } from './memory-store.ts'

export const MINUTE_MS = 60_000

export const localKeys = (...keys: string[]) =>
  localProvider(parseKeys(keys.length === 0 ? generateKey() : keys.join(' '), 'test'))

/** The bytes 0, 1, 2 … as a key: for vectors only. */
export const countedKey = (start: number) =>
  createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, at) => start + at)))

/** Account keys that are known in advance: version `n` of every account is `countedKey(n)`. */
export const knownKeys = (active: number, last = active): AccountKeys => ({
  active: async () => ({ version: active, key: countedKey(active) }),
  version: async (_, version) => {
    if (version > last) throw new IntegrityError('account_key_missing', 'no such key')
    return { version, key: countedKey(version) }
  },
  rotate: () => Promise.reject(new Error('known keys stay')),
  forget: () => {},
})

export const CONTEXT: SealContext = {
  purpose: 'credential.payload',
  account_id: 'acct_1',
  record_id: 'cred_1',
  record_version: 1,
}

/** A provider that can be switched off, counts what it is asked and keeps the buffers it was handed. */
export const switchable = (inner: KeyProvider) => {
  const state = { down: false, unwraps: 0, handed: [] as Buffer[] }
  const provider: KeyProvider = {
    ...inner,
    wrap: (plain, aad) => {
      if (state.down) return Promise.reject(new KeyProviderUnavailable(inner.id, 'is switched off'))
      state.handed.push(plain)
      return inner.wrap(plain, aad)
    },
    unwrap: async (kek_id, wrapped, aad) => {
      state.unwraps++
      if (state.down) throw new KeyProviderUnavailable(kek_id, 'is switched off')
      const plain = await inner.unwrap(kek_id, wrapped, aad)
      state.handed.push(plain)
      return plain
    },
  }
  return { provider, state }
}

/** Account keys over memory, with a clock that stands still unless told. */
export const fixture = (inner: KeyProvider = localKeys()) => {
  const clock = { ms: 0 }
  const { provider, state } = switchable(inner)
  const memory = memoryStore()
  const options = {
    cacheSize: 100,
    ttlMs: 15 * MINUTE_MS,
    staleMs: 240 * MINUTE_MS,
    retryMs: 5000,
    now: () => clock.ms,
  }
  const replica = () => accountKeys(provider, memory.store, options)
  return { ...memory, provider, state, clock, replica, keys: replica() }
}
