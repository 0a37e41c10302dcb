import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Database } from '@keelson/database'
import { KeyProviderUnavailable, UnknownKeyEncryptionKey, type KeyProvider } from '@keelson/secrets'
import { ConfigError } from '@keelson/service-kit'

type Canary = { kek_id: string; wrapped: Buffer; digest: Buffer }

const CONTEXT = Buffer.from('key-canary')

const digestOf = (value: Buffer): Buffer => createHash('sha256').update(value).digest()

const wants = (kek_id: string): string => `this database needs key-encryption key ${kek_id}`

const complaint = async (provider: KeyProvider, { kek_id, wrapped, digest }: Canary): Promise<string | null> => {
  try {
    const value = await provider.unwrap(kek_id, wrapped, CONTEXT)
    return timingSafeEqual(digestOf(value), digest) ? null : `the configured key of id ${kek_id} is another one`
  } catch (error) {
    if (error instanceof KeyProviderUnavailable) throw error
    if (!(error instanceof UnknownKeyEncryptionKey)) return `${wants(kek_id)}: ${(error as Error).message}`
    return `${wants(kek_id)}; configured: ${error.configured.join(', ') || 'none'}`
  }
}

const check = async (provider: KeyProvider, wanted: Canary[]): Promise<void> => {
  const complaints = await Promise.all(wanted.map((canary) => complaint(provider, canary)))
  const problems = complaints.filter((text) => text !== null)
  if (problems.length > 0) throw new ConfigError(problems)
}

const canaries = async (db: Pick<Database, 'sql'>): Promise<Canary[]> =>
  db.sql<Canary[]>`select kek_id, wrapped, digest from identity.key_canary order by created_at, kek_id`

/** Which keys a service must hold to start, one a sentence. */
export const wantedKeys = async (db: Pick<Database, 'sql'>): Promise<string[]> =>
  (await canaries(db)).map(({ kek_id }) => wants(kek_id))

const plant = async (db: Pick<Database, 'sql'>, provider: KeyProvider): Promise<void> => {
  const value = randomBytes(32)
  const { kek_id, wrapped } = await provider.wrap(value, CONTEXT)
  await db.sql`
    insert into identity.key_canary (kek_id, wrapped, digest) values (${kek_id}, ${wrapped}, ${digestOf(value)})
    on conflict do nothing`
}

/**
 * Checks at boot that the provider holds every key-encryption key in use, by a value wrapped under each. A first start,
 * or a new current key, leaves such a value behind.
 *
 * @throws ConfigError naming the key ids that are wanted and missing or wrong; KeyProviderUnavailable
 */
export const assertKeyProvider = async (db: Pick<Database, 'sql'>, provider: KeyProvider): Promise<void> => {
  const found = await canaries(db)
  await check(provider, found)
  if (found.some(({ kek_id }) => kek_id === provider.id)) return
  await plant(db, provider)
  await check(provider, await canaries(db))
}
