import type { Database } from '@keelson/database'
import type { Claim } from './claim.ts'

/** What came of an attempt; without an error the agent accepted. */
export type Outcome = { last_status: number | null; last_error: string | null }

/** After so long without a success a key is switched off. */
const FAILING_DAYS = 5

export const PURGED_AT_ONCE = 1000

/** Writes down what became of deliveries; a worker whose claim has ended changes nothing. */
export const settlements = ({ sql }: Pick<Database, 'sql'>) => ({
  /** The agent accepted it: its key works, and is switched on again if it was off. */
  succeeded: async ({ account_id, id, attempts, key_id }: Claim, { last_status }: Outcome): Promise<void> => {
    await sql`
      with working as (
        update agent.agent_api_keys set failing_since = null, disabled_at = null
        where account_id = ${account_id} and id = ${key_id} and (failing_since is not null or disabled_at is not null)
      )
      update agent.webhook_deliveries
      set status = 'delivered', delivered_at = now(), next_attempt_at = null, claimed_until = null,
        last_status = ${last_status}, last_error = null
      where account_id = ${account_id} and id = ${id} and attempts = ${attempts} and status = 'pending'`
  },

  /** It failed: to be tried again after a pause, or given up when that is `null`. */
  failed: async (claimed: Claim, { last_status, last_error }: Outcome, pauseMs: number | null): Promise<void> => {
    const { account_id, id, attempts, key_id } = claimed
    await sql`
      with failing as (
        update agent.agent_api_keys
        set failing_since = coalesce(failing_since, now()),
          disabled_at = case when failing_since < now() - ${FAILING_DAYS} * interval '1 day'
            then coalesce(disabled_at, now()) else disabled_at end
        where account_id = ${account_id} and id = ${key_id}
          and (failing_since is null or failing_since < now() - ${FAILING_DAYS} * interval '1 day')
      )
      update agent.webhook_deliveries
      set status = case when ${pauseMs}::double precision is null then 'dead' else 'pending' end,
        next_attempt_at = now() + ${pauseMs}::double precision * interval '1 millisecond', claimed_until = null,
        failures = failures + 1, last_status = ${last_status}, last_error = ${last_error}
      where account_id = ${account_id} and id = ${id} and attempts = ${attempts} and status = 'pending'`
  },

  /** Removes some of what ended so many days ago. */
  purge: async (days: number): Promise<number> => {
    const { count } = await sql`
      delete from agent.webhook_deliveries where (account_id, id) in (
        select account_id, id from agent.webhook_deliveries
        where status <> 'pending' and received_at < now() - ${days} * interval '1 day' limit ${PURGED_AT_ONCE})`
    return count
  },
})

export type Settlements = ReturnType<typeof settlements>
