import { createSecretKey, randomFillSync, timingSafeEqual, type KeyObject } from 'node:crypto'
import { IntegrityError } from './errors.ts'
import type { KeyProvider } from './key-provider.ts'
import { countBytes, lengthPrefixed, nameBytes } from './length-prefixed.ts'

const KEY_BYTES = 32

/** An account key as it is stored: wrapped by a key-encryption key, useless without it. */
export type WrappedKey = {
  account_id: string
  /** From 1. */
  version: number
  state: 'active' | 'decrypt_only' | 'destroyed'
  kek_id: string
  wrapped: Buffer
}

type KeyName = Pick<WrappedKey, 'account_id' | 'version'>

const wrapContext = ({ account_id, version }: KeyName, kek_id: string): Buffer =>
  lengthPrefixed(
    Buffer.from('account-key'),
    nameBytes('account_id', account_id),
    countBytes('version', version),
    nameBytes('kek_id', kek_id),
  )

/** Wraps and proves that what was wrapped can be had back, so that no key is ever stored that does not open. */
const wrapAndCheck = async (provider: KeyProvider, name: KeyName, plain: Buffer) => {
  const aad = wrapContext(name, provider.id)
  const { kek_id, wrapped } = await provider.wrap(plain, aad)
  const back = await provider.unwrap(kek_id, wrapped, aad)
  try {
    if (kek_id === provider.id && back.length === KEY_BYTES && timingSafeEqual(back, plain)) return { kek_id, wrapped }
  } finally {
    back.fill(0)
  }
  throw new IntegrityError('wrapped_key', `key provider of ${kek_id} did not give back the key it wrapped`)
}

const unwrapBytes = async (provider: KeyProvider, row: WrappedKey): Promise<Buffer> => {
  if (row.state === 'destroyed') {
    throw new IntegrityError('account_key_destroyed', `key ${row.version} of account ${row.account_id} is destroyed`)
  }
  const plain = await provider.unwrap(row.kek_id, row.wrapped, wrapContext(row, row.kek_id))
  if (plain.length === KEY_BYTES) return plain
  plain.fill(0)
  throw new IntegrityError('wrapped_key', `key ${row.version} of account ${row.account_id} has the wrong length`)
}

/** Makes a new account key and wraps it under the provider's current key. @throws KeyProviderUnavailable */
export const newWrappedKey = async (provider: KeyProvider, name: KeyName): Promise<WrappedKey> => {
  const plain = randomFillSync(Buffer.alloc(KEY_BYTES))
  try {
    const { kek_id, wrapped } = await wrapAndCheck(provider, name, plain)
    return { account_id: name.account_id, version: name.version, state: 'active', kek_id, wrapped }
  } finally {
    plain.fill(0)
  }
}

/**
 * The account key itself, bound to the account, version and key-encryption key its row names. The bytes are wiped here;
 * what remains prints nothing.
 *
 * @throws IntegrityError, KeyProviderUnavailable, UnknownKeyEncryptionKey
 */
export const unwrapKey = async (provider: KeyProvider, row: WrappedKey): Promise<KeyObject> => {
  const plain = await unwrapBytes(provider, row)
  try {
    return createSecretKey(plain)
  } finally {
    plain.fill(0)
  }
}

/**
 * The same account key under the provider's current key-encryption key. Records sealed under it stay as they are. Store
 * the result only where the row still has the old `kek_id`.
 *
 * @throws IntegrityError, KeyProviderUnavailable, UnknownKeyEncryptionKey
 */
export const rewrap = async (provider: KeyProvider, row: WrappedKey): Promise<WrappedKey> => {
  const plain = await unwrapBytes(provider, row)
  try {
    return { ...row, ...(await wrapAndCheck(provider, row, plain)) }
  } finally {
    plain.fill(0)
  }
}
