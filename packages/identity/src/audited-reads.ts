import { groupCommit, isTransient, Overloaded, type Database } from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import type { AuditedAct } from './audit-entry.ts'

/** A credential by its id or by its name. */
export type CredentialKey = { id: string } | { name: string }

export type RevealCredential = Omit<AuditedAct, 'action'> & { key: CredentialKey }

/** What is stored of a credential that exists; `sealed` is `null` when its current version is gone. */
export type StoredSecret = { id: string; current_version: number; sealed: Buffer | null }

const CREDENTIAL_ID = /^cred_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** What an audit row may say of a target that was not found: an id of ours, never other text of the caller's. */
export const namedTarget = (key: CredentialKey): string | null =>
  'id' in key && CREDENTIAL_ID.test(key.id) ? key.id : null

type Row = { [Field in keyof StoredSecret]: StoredSecret[Field] | null }

const storedSecret = ({ id, current_version, sealed }: Row): StoredSecret | null =>
  id === null || current_version === null ? null : { id, current_version, sealed }

const read = async (
  { sql }: Pick<Database, 'sql'>,
  acts: readonly RevealCredential[],
): Promise<(StoredSecret | null)[]> => {
  const column = (field: (act: RevealCredential) => string | null) => acts.map(field)
  const rows = await sql<Row[]>`
    select id, current_version, sealed from platform.reveal_credentials(
      ${column(({ principal }) => principal.account_id)}::text[],
      ${column(({ key }) => ('id' in key ? key.id : null))}::text[],
      ${column(({ key }) => ('name' in key ? key.name : null))}::text[],
      ${column(({ key }) => namedTarget(key))}::text[],
      ${column(({ principal }) => principal.key_id)}::text[],
      ${column(({ principal }) => principal.identity_id)}::text[],
      ${column(({ principal }) => principal.identity_type)}::text[],
      ${column(({ requestId }) => requestId)}::text[]
    ) order by place`
  return rows.map(storedSecret)
}

/** @throws ApiError `unavailable` when the queue of a group commit is full or stalled, else what was thrown */
export const overloaded = (error: unknown): never => {
  if (!(error instanceof Overloaded)) throw error
  throw new ApiError('unavailable', 'Too many secrets are asked for at once', { retryAfterSeconds: 1, cause: error })
}

/**
 * Reads ciphertexts, each with its audit row in the same statement: without the row there is no secret. Reads that come
 * while the database is busy share a statement and its commit.
 */
export const auditedReads = (db: Pick<Database, 'sql'>) => {
  let count = 0
  const queue = groupCommit<RevealCredential & { key_of_item: string }, StoredSecret | null>({
    write: (acts) => read(db, acts),
    keyOf: ({ key_of_item }) => key_of_item,
    isTransient,
    lanes: 3,
    // A few at a time, so that some are answered while others are read: all at once, Node and Postgres would wait for
    // each other in turn.
    maxItems: 8,
    besideShare: 2,
    soonMs: 5,
    maxBytes: 65_536,
    maxQueuedBytes: 8_388_608,
    stallMs: 5_000,
  })
  return (act: RevealCredential): Promise<StoredSecret | null> => {
    const item = { ...act, key_of_item: String((count += 1)) }
    return queue.submit(act.principal.account_id, item, 1024).catch(overloaded)
  }
}
