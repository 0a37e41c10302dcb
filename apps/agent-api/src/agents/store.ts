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
export const agentStore = ({ sql }: Pick<Database, 'sql'>, account_id: string) => {
  // Whether an agent is deleted is asked of the one that was found, or an index of those that are not seems as good.
  const withId = (id: string) => sql`(
    select * from agent.agents where account_id = ${account_id} and id = ${id} offset 0) as found`
  const withName = (name: string) => sql`(
    select * from agent.agents where account_id = ${account_id} and name between ${name} and ${name}
    order by name offset 0) as found`

  return {
    /** @throws ApiError `not_found` */
    async get({ agent_id, agent_name = '' }: AgentKey): Promise<AgentRow> {
      const found = agent_id === undefined ? withName(agent_name) : withId(agent_id)
      const [row] = await sql<AgentRow[]>`select ${sql(AGENT_COLUMNS)} from ${found} where deleted_at is null`
      return row ?? notFound('agent')
    },

    async list({ name, limit, page_number, ...query }: AgentQuery): Promise<AgentRow[]> {
      const direction = sql.unsafe(query.order_direction)
      const listed = name === undefined ? sql`agent.agents` : withName(name)
      return sql<AgentRow[]>`
        select ${sql(AGENT_COLUMNS)} from ${listed} where account_id = ${account_id} and deleted_at is null
        order by ${sql(query.order_by)} ${direction}, id ${direction}
        limit ${limit} offset ${(page_number - 1) * limit}`
    },
  }
}
