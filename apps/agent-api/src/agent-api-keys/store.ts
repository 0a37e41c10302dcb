import { withAccount, type Database } from '@keelson/database'
import { auditWithin, type AuditedBy } from '@keelson/identity'
import { notFound } from '@keelson/service-kit'
import type { WebhookSource } from '@keelson/contracts/agent'
import { keyColumns, type KeyRow } from './key-row.ts'

/** A key by its id, or by its name and source below an agent. */
export type KeyName = { id: string } | { agent_id: string; name: string; source: WebhookSource }

/** The keys of one account's agents, for readers of everything but their values. */
export const keyStore = (db: Pick<Database, 'sql'>, account_id: string) => {
  const { sql } = db
  const idOf = (key: KeyName) =>
    'id' in key
      ? sql`${key.id}`
      : sql`(
          select id from agent.agent_api_keys
          where account_id = ${account_id} and agent_id = ${key.agent_id} and source = ${key.source}
            and name between ${key.name} and ${key.name} order by name)`
  const isIt = (key: KeyName) => sql`account_id = ${account_id} and id = ${idOf(key)}`

  return {
    /** @throws ApiError `not_found` */
    async get(key: KeyName): Promise<KeyRow> {
      const [row] = await sql<KeyRow[]>`select ${keyColumns(sql)} from agent.agent_api_keys where ${isIt(key)}`
      return row ?? notFound('agent API key')
    },

    async list(agent_id: string, { limit, page_number }: { limit: number; page_number: number }): Promise<KeyRow[]> {
      return sql<KeyRow[]>`
        select ${keyColumns(sql)} from agent.agent_api_keys
        where account_id = ${account_id} and agent_id = ${agent_id}
        order by created_at, id limit ${limit} offset ${(page_number - 1) * limit}`
    },

    /** Removes a key with its secrets. @throws ApiError `not_found` */
    delete: (key: KeyName, by: AuditedBy): Promise<KeyRow> =>
      withAccount(db, account_id, async (tx) => {
        const [found] = await tx<KeyRow[]>`
          delete from agent.agent_api_keys where ${isIt(key)} returning ${keyColumns(sql)}`
        const row = found ?? notFound('agent API key')
        const target = { target_id: row.id, target_version: null, outcome: 'done' as const }
        await auditWithin(tx, { ...by, action: 'agent_api_key.delete' }, target)
        return row
      }),
  }
}
