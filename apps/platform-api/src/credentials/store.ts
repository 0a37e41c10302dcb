import type { Database } from '@keelson/database'
import { notFound } from '@keelson/service-kit'
import { listPage, type ListQuery, type Page } from '../list-page.ts'
import { CREDENTIAL_COLUMNS, type CredentialRow } from './credential-row.ts'

export type CredentialQuery = ListQuery & { name?: string | undefined }

/** The credentials of one account, for readers of everything but the secret. */
export const credentialStore = ({ sql }: Pick<Database, 'sql'>, account_id: string) => ({
  /** @throws ApiError `not_found` */
  async get(id: string): Promise<CredentialRow> {
    const [row] = await sql<CredentialRow[]>`
      select ${sql(CREDENTIAL_COLUMNS)} from platform.credentials where account_id = ${account_id} and id = ${id}`
    return row ?? notFound('credential')
  },

  /** @throws ApiError `not_found` */
  async getByName(name: string): Promise<CredentialRow> {
    const [row] = await sql<CredentialRow[]>`
      select ${sql(CREDENTIAL_COLUMNS)} from platform.credentials
      where account_id = ${account_id} and name between ${name} and ${name} order by name`
    return row ?? notFound('credential')
  },

  list({ name, ...query }: CredentialQuery): Promise<Page<CredentialRow>> {
    const where = sql`account_id = ${account_id}`
    const source = {
      table: 'platform.credentials',
      columns: CREDENTIAL_COLUMNS,
      name,
      where,
      account_id,
      idPrefix: 'cred',
    }
    return listPage(sql, source, query)
  },
})
