import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto'

/** What a stored key grants. */
export type Grant = {
  account_id: string
  id: string
  identity_id: string
  identity_type: string
  hash: Buffer
  scopes: readonly string[] | null
  expires_at: string | null
}

export type KeyDigest = {
  /** HMAC-SHA-256 of a key: what is stored and looked up instead of the key. */
  hash: (key: string) => Buffer
  /** MAC over everything a row grants, so that a row edited or made in the database opens nothing. */
  rowMac: (grant: Grant) => Buffer
  isGenuine: (grant: Grant, mac: Buffer | null) => boolean
}

const subkey = (pepper: Buffer, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', pepper, Buffer.alloc(0), purpose, 32)))

const canonical = ({ account_id, id, identity_id, identity_type, hash, scopes, expires_at }: Grant): string =>
  JSON.stringify([
    account_id,
    id,
    identity_id,
    identity_type,
    hash.toString('hex'),
    scopes && [...scopes].toSorted(),
    expires_at,
  ])

/** @param pepper 32 secret bytes of the installation; without them no database row can be made into a key */
export const keyDigest = (pepper: Buffer): KeyDigest => {
  const hashKey = subkey(pepper, 'api-key.hash')
  const macKey = subkey(pepper, 'api-key.row-mac')
  const rowMac = (grant: Grant) => createHmac('sha256', macKey).update(canonical(grant)).digest()
  return {
    hash: (key) => createHmac('sha256', hashKey).update(key).digest(),
    rowMac,
    isGenuine: (grant, mac) => mac?.length === 32 && timingSafeEqual(rowMac(grant), mac),
  }
}
