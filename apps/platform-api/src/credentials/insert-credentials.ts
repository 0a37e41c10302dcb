import type { Database } from '@keelson/database'
import type { AuditedAct } from '@keelson/identity'
import { sharedInserts } from '../shared-inserts.ts'

/** A credential about to be made, its payload sealed as version 1. */
export type NewCredential = Omit<AuditedAct, 'action'> & {
  id: string
  name: string
  description: string
  type: string
  credential_metadata: string
  sealed: Buffer
}

const placeOf = ({ principal, name }: NewCredential): string => `${principal.account_id}\n${name}`

type Inserted = { id: string; created_at: string | null }

/** In the order of their names, so that two statements never wait for each other. */
const insert = async ({ sql }: Pick<Database, 'sql'>, made: readonly NewCredential[]): Promise<(string | null)[]> => {
  const rows = made.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  const column = (field: (row: NewCredential) => string) => rows.map(field)
  const inserted = await sql<Inserted[]>`
    select row.id, platform.create_credential(of_account, row.id, name, description, type, metadata,
      decode(sealed, 'base64'), key_id, identity_id, identity_type, request_id) as created_at
    from unnest(
      ${column(({ principal }) => principal.account_id)}::text[],
      ${column(({ id }) => id)}::text[],
      ${column(({ name }) => name)}::text[],
      ${column(({ description }) => description)}::text[],
      ${column(({ type }) => type)}::text[],
      ${column(({ credential_metadata }) => credential_metadata)}::text[],
      ${column(({ sealed }) => sealed.toString('base64'))}::text[],
      ${column(({ principal }) => principal.key_id)}::text[],
      ${column(({ principal }) => principal.identity_id)}::text[],
      ${column(({ principal }) => principal.identity_type)}::text[],
      ${column(({ requestId }) => requestId)}::text[]
    ) as row (of_account, id, name, description, type, metadata, sealed, key_id, identity_id, identity_type, request_id)`
  const times = new Map(inserted.map(({ id, created_at }) => [id, created_at]))
  return made.map(({ id }) => times.get(id) ?? null)
}

/**
 * Makes credentials, each with its version and its audit row. Those that come while the database is busy share a
 * statement and its commit.
 */
export const credentialInserts = (db: Pick<Database, 'sql'>) => {
  const submit = sharedInserts<NewCredential, string | null>({
    what: 'credentials',
    insert: (rows) => insert(db, rows),
    placeOf,
  })
  /** @returns when it was made, or `null` when the account has a credential of the name */
  return (row: NewCredential): Promise<string | null> => {
    const bytes = row.sealed.length + row.credential_metadata.length + row.description.length + 1024
    return submit(row.principal.account_id, row, bytes)
  }
}

export type CredentialInserts = ReturnType<typeof credentialInserts>
