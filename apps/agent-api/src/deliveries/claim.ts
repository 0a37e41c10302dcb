import type { Database } from '@keelson/database'
import type { Load } from './slots.ts'

/** A delivery that is this worker's to attempt until the claim ends. */
export type Claim = {
  account_id: string
  id: string
  agent_id: string
  acp_url: string
  key_id: string
  source: 'external' | 'github' | 'slack'
  path: string
  query: string
  headers: string
  body: Buffer
  /** This attempt's number; it is also what fences off a worker whose claim has ended. */
  attempts: number
  failures: number
}

/**
 * Takes due deliveries: of each agent those that have waited longest, accounts in turns, and of nobody more than their
 * share of the slots. A slow agent, or an account with many of them, so leaves room for the others.
 */
export const claimDue = async (
  { sql }: Pick<Database, 'sql'>,
  { free, freeBytes, perAgent, perAccount, agents, accounts }: Load,
  claimMs: number,
): Promise<Claim[]> => sql<Claim[]>`
  with recursive waiting as (
    (select account_id, agent_id from agent.webhook_deliveries where status = 'pending'
      order by account_id, agent_id limit 1)
    union all
    select next.account_id, next.agent_id from waiting w cross join lateral (
      select account_id, agent_id from agent.webhook_deliveries
      where status = 'pending' and (account_id, agent_id) > (w.account_id, w.agent_id)
      order by account_id, agent_id limit 1) next
  ), oldest as (
    select d.*, coalesce((${JSON.stringify(accounts)}::text::json ->> d.account_id)::integer, 0)
      + row_number() over (partition by d.account_id order by d.next_attempt_at, d.id) as place
    from waiting w cross join lateral (
      select account_id, id, next_attempt_at, body_bytes from agent.webhook_deliveries
      where account_id = w.account_id and agent_id = w.agent_id and status = 'pending' and next_attempt_at <= now()
      order by next_attempt_at
      limit greatest(0, ${perAgent} - coalesce((${JSON.stringify(agents)}::text::json ->> w.agent_id)::integer, 0))) d
  ), turn as (
    select account_id, id, sum(body_bytes) over (order by place, next_attempt_at, id) as bytes
    from oldest where place <= ${perAccount} order by place, next_attempt_at, id limit ${free}
  ), due as materialized (
    select d.account_id, d.id, d.agent_id from agent.webhook_deliveries d
    join turn t on t.account_id = d.account_id and t.id = d.id and t.bytes <= ${freeBytes}
    where d.status = 'pending' and d.next_attempt_at <= now() for update of d skip locked
  )
  update agent.webhook_deliveries d
  set attempts = attempts + 1, claimed_until = now() + ${claimMs} * interval '1 millisecond',
    next_attempt_at = now() + ${claimMs} * interval '1 millisecond'
  from due join agent.agents a on a.account_id = due.account_id and a.id = due.agent_id
  where d.account_id = due.account_id and d.id = due.id
  returning d.account_id, d.id, d.agent_id, a.acp_url, d.key_id, d.source, d.path, d.query, d.headers, d.body,
    d.attempts, d.failures`
