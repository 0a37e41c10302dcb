import { byteaArray, type Database, textArray } from '@keelson/database'

/** An event as it is kept. */
export type NewDelivery = {
  account_id: string
  id: string
  agent_id: string
  agent_name: string
  key_id: string
  source: string
  source_delivery_id: string | null
  path: string
  query: string
  headers: string
  body: Buffer
  status: 'pending' | 'dead'
  last_error: string | null
}

type Identity = Pick<NewDelivery, 'account_id' | 'id' | 'key_id' | 'source_delivery_id'>

/** What makes an event the same as another: the id its source gave it, or else nothing. */
export const identityOf = ({ account_id, id, key_id, source_delivery_id }: Identity): string =>
  JSON.stringify([account_id, key_id, source_delivery_id ?? { id }])

/**
 * Writes events in one statement, no two of them the same. The results are the ids of those to be attempted. One that
 * waits for its next attempt keeps it when it comes again after its key was switched off.
 */
export const writeDeliveries = async (
  { sql }: Pick<Database, 'sql'>,
  rows: readonly NewDelivery[],
): Promise<(string | null)[]> => {
  const column = (name: Exclude<keyof NewDelivery, 'body'>) => textArray(rows.map((row) => row[name]))
  const written = await sql<Identity[]>`
    insert into agent.webhook_deliveries as known (account_id, id, agent_id, agent_name, key_id, source,
      source_delivery_id, path, query, headers, body, status, last_error, next_attempt_at)
    select account_id, id, agent_id, agent_name, key_id, source, source_delivery_id, path, query, headers,
      body, status, last_error, case when status = 'pending' then now() end
    from unnest(
      ${column('account_id')}::text[], ${column('id')}::text[], ${column('agent_id')}::text[], ${column('agent_name')}::text[],
      ${column('key_id')}::text[], ${column('source')}::text[], ${column('source_delivery_id')}::text[],
      ${column('path')}::text[], ${column('query')}::text[], ${column('headers')}::text[],
      ${byteaArray(rows.map(({ body }) => body))}::bytea[], ${column('status')}::text[], ${column('last_error')}::text[])
      as _ (account_id, id, agent_id, agent_name, key_id, source, source_delivery_id, path, query, headers, body, status, last_error)
    order by account_id, key_id, source_delivery_id
    on conflict on constraint webhook_deliveries_source_unique do update
      set status = excluded.status, failures = 0, next_attempt_at = excluded.next_attempt_at
      where known.status <> 'delivered' and excluded.status = 'pending'
        and (known.claimed_until is null or known.claimed_until < now())
    returning account_id, id, key_id, source_delivery_id`
  const ids = new Map(written.map((row) => [identityOf(row), row.id]))
  return rows.map((row) => ids.get(identityOf(row)) ?? null)
}
