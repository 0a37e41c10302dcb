import type { KeyObject } from 'node:crypto'
import { IntegrityError } from './errors.ts'
import { keyCache, type CacheOptions } from './key-cache.ts'
import type { KeyProvider } from './key-provider.ts'
import { newWrappedKey, unwrapKey, type WrappedKey } from './wrapped-key.ts'

/** Where wrapped account keys are kept. */
export type AccountKeyStore = {
  /** The key new records are sealed under. */
  active(account_id: string): Promise<WrappedKey | null>
  version(account_id: string, version: number): Promise<WrappedKey | null>
  /**
   * Makes the key the account's active one and the former active one `decrypt_only`, in one transaction. When the account
   * already has that version, changes nothing and returns the stored row: the winner of a race.
   */
  insert(key: WrappedKey): Promise<WrappedKey>
}

export type AccountKey = { version: number; key: KeyObject }

/** The keys of all accounts, ready for use. */
export type AccountKeys = {
  /** The key to seal under; an account without any gets its first. */
  active(account_id: string): Promise<AccountKey>
  /** The key a record was sealed under. @throws IntegrityError when there is none */
  version(account_id: string, version: number): Promise<AccountKey>
  /** Gives the account a new active key. Safe to race: everyone gets the same one. Other processes follow within `ttlMs`. */
  rotate(account_id: string): Promise<AccountKey>
  /** Drops every key from memory. */
  forget(): void
}

export type AccountKeysOptions = Pick<CacheOptions, 'cacheSize' | 'ttlMs'> & Partial<CacheOptions>

const HOUR_MS = 3_600_000

const missing = (account_id: string, which: string) =>
  new IntegrityError('account_key_missing', `account ${account_id} has no ${which} key`)

/**
 * Account keys, created on first use and cached. While the key provider is away, cached keys serve for `staleMs`
 * (default 4 h) past `ttlMs`.
 *
 * @throws from every method: IntegrityError, KeyProviderUnavailable, UnknownKeyEncryptionKey, and what the store throws
 */
export const accountKeys = (
  provider: KeyProvider,
  store: AccountKeyStore,
  options: AccountKeysOptions,
): AccountKeys => {
  const cacheOptions = { staleMs: 4 * HOUR_MS, retryMs: 5000, now: () => performance.now(), ...options }
  const keys = keyCache<AccountKey>(cacheOptions)
  const actives = keyCache<number>(cacheOptions)

  const unwrapped = (row: WrappedKey): Promise<AccountKey> =>
    keys.read(`${row.version} ${row.account_id}`, async () => ({
      version: row.version,
      key: await unwrapKey(provider, row),
    }))

  const version = (account_id: string, number: number): Promise<AccountKey> =>
    keys.read(`${number} ${account_id}`, async () => {
      const row = await store.version(account_id, number)
      if (!row) throw missing(account_id, `version ${number} of its`)
      return { version: number, key: await unwrapKey(provider, { ...row, account_id, version: number }) }
    })

  const create = async (account_id: string, number: number): Promise<WrappedKey> => {
    const winner = await store.insert(await newWrappedKey(provider, { account_id, version: number }))
    if (winner.state !== 'active') throw missing(account_id, 'active')
    return { ...winner, account_id }
  }

  const active = async (account_id: string): Promise<AccountKey> => {
    const number = await actives.read(account_id, async () => {
      const row = (await store.active(account_id)) ?? (await create(account_id, 1))
      await unwrapped({ ...row, account_id })
      return row.version
    })
    return version(account_id, number)
  }

  const rotate = async (account_id: string): Promise<AccountKey> => {
    const current = await store.active(account_id)
    const former = current?.version ?? 0
    const created = await create(account_id, former + 1)
    if (created.version <= former) throw new Error(`the store kept key ${former} of account ${account_id} active`)
    actives.forget(account_id)
    return unwrapped(created)
  }

  const forget = () => {
    keys.forget()
    actives.forget()
  }

  return { active, version, rotate, forget }
}
