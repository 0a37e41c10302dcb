import type { Database } from '@keelson/database'
import { invalidField, notFound } from '@keelson/service-kit'
import { DELIVERY_COLUMNS, type DeliveryRow } from './delivery-row.ts'

export type DeliveryQuery = {
  agent_name?: string | undefined
  key_id?: string | undefined
  status?: DeliveryRow['status'] | undefined
  limit: number
  starting_after?: string | undefined
}

export type ReplayRange = {
  key_id: string
  received_from: string
  received_before: string
  status?: DeliveryRow['status'] | undefined
}

/** The delivery log of one account. */
export const deliveryStore = ({ sql }: Pick<Database, 'sql'>, account_id: string) => {
  const find = async (id: string): Promise<DeliveryRow | undefined> => {
    const [row] = await sql<DeliveryRow[]>`
      select ${sql(DELIVERY_COLUMNS)} from agent.webhook_deliveries where account_id = ${account_id} and id = ${id}`
    return row
  }

  // An attempt under way goes on; the next one follows it.
  const again = sql`
    status = 'pending', failures = 0, delivered_at = null, next_attempt_at = greatest(now(), claimed_until)`

  return {
    /** @throws ApiError `not_found` */
    get: async (id: string): Promise<DeliveryRow> => (await find(id)) ?? notFound('delivery'),

    /** @throws ApiError `invalid_request` when `starting_after` names no delivery of the account */
    async list({ agent_name, key_id, status, limit, starting_after }: DeliveryQuery): Promise<DeliveryRow[]> {
      const rows = await sql<DeliveryRow[]>`
        select ${sql(DELIVERY_COLUMNS)} from agent.webhook_deliveries
        where account_id = ${account_id}
          ${agent_name === undefined ? sql`` : sql`and agent_name = ${agent_name}`}
          ${key_id === undefined ? sql`` : sql`and key_id = ${key_id}`}
          ${status === undefined ? sql`` : sql`and status = ${status}`}
          ${starting_after === undefined ? sql`` : sql`and id < ${starting_after}`}
        order by id desc limit ${limit}`
      if (rows.length === 0 && starting_after !== undefined && !(await find(starting_after)))
        return invalidField('starting_after', 'names no delivery')
      return rows
    },

    /** Makes a delivery due again, whatever became of it. @throws ApiError `not_found` */
    async replay(id: string): Promise<DeliveryRow> {
      const [row] = await sql<DeliveryRow[]>`
        update agent.webhook_deliveries set ${again}
        where account_id = ${account_id} and id = ${id} returning ${sql(DELIVERY_COLUMNS)}`
      return row ?? notFound('delivery')
    },

    /** Makes the deliveries of a range of time due again, and tells how many. @throws ApiError `not_found` */
    async replayRange({ key_id, received_from, received_before, status }: ReplayRange): Promise<number> {
      const [key] = await sql`select from agent.agent_api_keys where account_id = ${account_id} and id = ${key_id}`
      if (!key) return notFound('agent API key')
      const { count } = await sql`
        update agent.webhook_deliveries set ${again}
        where account_id = ${account_id} and key_id = ${key_id}
          and received_at >= ${received_from} and received_at < ${received_before}
          ${status === undefined ? sql`` : sql`and status = ${status}`}`
      return count
    },
  }
}
