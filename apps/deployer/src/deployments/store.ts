import { retryingDeadlocks, type Database } from '@keelson/database'
import type { DeploymentStore } from './advance.ts'
import { claimDeployment, type ClaimOptions } from './claim.ts'
import { recordChange, type RecordOptions } from './record.ts'

/** Enough to ring for a deployment, or to advance it. */
export type Due = { account_id: string; id: string }

export type StoreOptions = ClaimOptions & RecordOptions

/** Deployments of all accounts, in Postgres: the truth about them, and the only clock. */
export const deploymentStore = ({ sql }: Pick<Database, 'sql'>, options: StoreOptions) =>
  ({
    claim: (id) => claimDeployment(sql, id, options),
    record: (claim, change) => retryingDeadlocks(() => recordChange(sql, claim, change, options)),

    /**
     * Deployments that should have been advanced `lateMs` ago and that nobody holds: the most overdue of each account,
     * then the next of each, so that no account waits for all of another's.
     */
    due: async (lateMs: number, limit: number): Promise<Due[]> => sql<Due[]>`
      select account_id, id from (
        select account_id, id, next_at, row_number() over (partition by account_id order by next_at) as turn
        from platform.deployments
        where finished_at is null and next_at <= now() - ${lateMs}::float8 * interval '1 ms'
          and (lease_until is null or lease_until <= now())
      ) overdue
      order by turn, next_at limit ${limit}`,

    /** How many deployments are under way, and for how long the most overdue one has been waiting. */
    backlog: async (): Promise<{ pending: number; oldestMs: number }> => {
      const [row] = await sql<[{ pending: number; oldestMs: number }]>`
        select count(*)::int as pending,
          greatest(0, coalesce(extract(epoch from now() - min(next_at)), 0))::float8 * 1000 as "oldestMs"
        from platform.deployments where finished_at is null`
      return row
    },
  }) satisfies DeploymentStore & Record<string, unknown>

export type PostgresDeployments = ReturnType<typeof deploymentStore>
