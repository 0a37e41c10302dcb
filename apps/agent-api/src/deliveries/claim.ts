import type { Database } from '@keelson/database'

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

export const claims = ({ sql }: Pick<Database, 'sql'>, { claimMs }: { claimMs: number }) => {
  const claim = (due: ReturnType<typeof sql>) => sql<Claim[]>`
    with due as materialized (${due} for update skip locked)
    update agent.webhook_deliveries d
    set attempts = attempts + 1, claimed_until = now() + ${claimMs} * interval '1 millisecond',
      next_attempt_at = now() + ${claimMs} * interval '1 millisecond'
    from due join agent.agents a on a.account_id = due.account_id and a.id = due.agent_id
    where d.account_id = due.account_id and d.id = due.id
    returning d.account_id, d.id, d.agent_id, a.acp_url, d.key_id, d.source, d.path, d.query, d.headers, d.body,
      d.attempts, d.failures`

  return {
    /** Takes the deliveries that have waited longest, of any account. */
    due: (limit: number): Promise<Claim[]> =>
      claim(sql`
        select account_id, id, agent_id from agent.webhook_deliveries
        where status = 'pending' and next_attempt_at <= now() order by next_attempt_at limit ${limit}`),

    /** Takes one delivery, if it is due. */
    one: async (account_id: string, id: string): Promise<Claim | null> => {
      const [found] = await claim(sql`
        select account_id, id, agent_id from agent.webhook_deliveries
        where account_id = ${account_id} and id = ${id} and status = 'pending' and next_attempt_at <= now()`)
      return found ?? null
    },
  }
}

export type Claims = ReturnType<typeof claims>
