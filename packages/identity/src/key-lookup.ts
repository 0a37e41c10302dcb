import { timingSafeEqual } from 'node:crypto'
import { isTransient, type Database } from '@keelson/database'
import { ApiError, type Principal } from '@keelson/service-kit'
import type { Grant, KeyDigest } from './key-digest.ts'

/** A live key; `endsAt` is when it expires, on the clock of `performance.now()`. */
export type KnownKey = { principal: Principal; endsAt: number }

type Row = Grant & { identity_type: Principal['identity_type']; expires_in_ms: number | null; row_mac: Buffer | null }

const principalOf = ({ account_id, identity_id, identity_type, id, scopes }: Row): Principal =>
  Object.freeze({
    account_id,
    identity_id,
    identity_type,
    key_id: id,
    scopes: scopes && (new Set(scopes) as Principal['scopes']),
  })

/**
 * Looks keys up by their hash. Expiry is reckoned from the database's clock, so replicas whose clocks differ agree.
 *
 * @param onTampered told the id of a key whose row was edited past this product
 * @throws ApiError `unavailable` from the lookup while the database is
 */
export const keyLookup = (db: Pick<Database, 'sql'>, digest: KeyDigest, onTampered: (key_id: string) => void) => {
  const select = async (hash: Buffer): Promise<{ row: Row | undefined; askedAt: number }> => {
    const askedAt = performance.now()
    try {
      const [row] = await db.sql<Row[]>`select * from identity.find_api_key(${hash})`
      return { row, askedAt }
    } catch (cause) {
      if (isTransient(cause)) throw new ApiError('unavailable', 'API keys cannot be checked right now', { cause })
      throw cause
    }
  }

  return async (hex: string): Promise<KnownKey | null> => {
    const hash = Buffer.from(hex, 'hex')
    const { row, askedAt } = await select(hash)
    if (!row || !timingSafeEqual(row.hash, hash)) return null
    if (!digest.isGenuine(row, row.row_mac)) {
      onTampered(row.id)
      return null
    }
    const endsAt = row.expires_in_ms === null ? Infinity : askedAt + row.expires_in_ms
    return endsAt > performance.now() ? { principal: principalOf(row), endsAt } : null
  }
}
