import type { Database } from '@keelson/database'
import { notFound } from '@keelson/service-kit'
import { AGENT_COLUMNS, type AgentRow } from './agent-row.ts'

export type AgentQuery = {
  name?: string | undefined
  order_by: 'created_at' | 'updated_at' | 'name'
  order_direction: 'asc' | 'desc'
  limit: number
  page_number: number
}

/** An agent by its id or by its name. */
export type AgentKey = { agent_id?: string | undefined; agent_name?: string | undefined }

/** The agents of one account; deleted ones are not there. */
export const agentStore = ({ sql }: Pick<Database, 'sql'>, account_id: string) => ({
  /** @throws ApiError `not_found` */
  async get({ agent_id, agent_name }: AgentKey): Promise<AgentRow> {
    const match = agent_id === undefined ? sql`name = ${agent_name ?? ''}` : sql`id = ${agent_id}`
    const [row] = await sql<AgentRow[]>`
      select ${sql(AGENT_COLUMNS)} from agent.agents
      where account_id = ${account_id} and ${match} and deleted_at is null`
    return row ?? notFound('agent')
  },

  async list({ name, limit, page_number, ...query }: AgentQuery): Promise<AgentRow[]> {
    const direction = sql.unsafe(query.order_direction)
    return sql<AgentRow[]>`
      select ${sql(AGENT_COLUMNS)} from agent.agents
      where account_id = ${account_id} and deleted_at is null ${name === undefined ? sql`` : sql`and name = ${name}`}
      order by ${sql(query.order_by)} ${direction}, id ${direction}
      limit ${limit} offset ${(page_number - 1) * limit}`
  },
})
