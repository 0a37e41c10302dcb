import { randomBytes } from 'node:crypto'
import type { AccountKeys } from './account-keys.ts'
import { closeBox, openBox, type RandomSource } from './derived-box.ts'
import { envelopeHeader, parseEnvelope } from './envelope.ts'
import { countBytes, lengthPrefixed, nameBytes } from './length-prefixed.ts'

/** The place a secret belongs to, all of it immutable. A record opens nowhere else. */
export type SealContext = {
  /** What the secret is for, for instance `credential.payload`. */
  purpose: string
  account_id: string
  record_id: string
  record_version: number
}

/** The additional data of a record: header, purpose, account, record and version, each with its length before it. */
export const recordContext = (header: Buffer, context: SealContext): Buffer =>
  lengthPrefixed(
    header,
    nameBytes('purpose', context.purpose),
    nameBytes('account_id', context.account_id),
    nameBytes('record_id', context.record_id),
    countBytes('record_version', context.record_version),
  )

/** Seals with a given source of salt and IV. Not for use: the same salt and IV twice would give secrets away. */
export const sealUsing =
  (random: RandomSource) =>
  async (accountKeys: AccountKeys, context: SealContext, plaintext: Buffer): Promise<Buffer> => {
    const { version, key } = await accountKeys.active(context.account_id)
    const header = envelopeHeader(version)
    return Buffer.concat([header, closeBox(key, recordContext(header, context), plaintext, random)])
  }

/**
 * Seals a secret under the active key of its account, 100 bytes longer than the plaintext. The account's first secret
 * creates its key.
 *
 * @throws KeyProviderUnavailable when the account's key is not cached and its provider is away
 * @throws RangeError for a context that names nothing or is longer than 255 bytes a field
 */
export const seal: (accountKeys: AccountKeys, context: SealContext, plaintext: Buffer) => Promise<Buffer> =
  sealUsing(randomBytes)

/**
 * Opens a sealed record: the whole secret or nothing.
 *
 * @throws IntegrityError when the record was changed, cut, moved to another place or version, or its account key is gone
 * @throws KeyProviderUnavailable when the account's key is not cached and its provider is away
 */
export const open = async (accountKeys: AccountKeys, context: SealContext, sealed: Buffer): Promise<Buffer> => {
  const { ak_version, header, box } = parseEnvelope(sealed)
  const { key } = await accountKeys.version(context.account_id, ak_version)
  return openBox(key, recordContext(header, context), box)
}
