import type { Database } from '@keelson/database'
import type { Claim, Limits } from './deployment.ts'

export type ClaimOptions = { leaseMs: number; limits: Pick<Limits, 'settleMs'> }

/**
 * Takes a due deployment that nobody holds: a new fencing token, and a lease. Says by when all that could still change
 * the endpoint has happened. A teardown waits for what could bring the endpoint back and, before its own first removal,
 * distrusts an absence that may have been read before the endpoint was made.
 */
export const claimDeployment = async (
  sql: Database['sql'],
  id: string,
  { leaseMs, limits }: ClaimOptions,
): Promise<Claim | null> => {
  const [row] = await sql<Claim[]>`
    with held as (
      select d.*, m.model_availability from platform.deployments d
      join platform.models m on m.account_id = d.account_id and m.id = d.model_id
      where d.id = ${id} and d.finished_at is null and d.next_at <= now()
        and (d.lease_until is null or d.lease_until <= now())
      for update of d skip locked
    ), claimed as (
      update platform.deployments d
      set fence = d.fence + 1, lease_until = now() + ${leaseMs}::float8 * interval '1 ms', claimed_at = now(),
        unsettled_at = greatest(d.unsettled_at, d.claimed_at), started_at = coalesce(d.started_at, now())
      from held where d.account_id = held.account_id and d.id = held.id
      returning d.fence
    ), others as (
      select max(greatest(other.unsettled_at, other.claimed_at,
          case when held.phase = 'queued' and held.kind in ('delete', 'cleanup') then other.accepted_at end))
        + ${limits.settleMs}::float8 * interval '1 ms' as settled_at
      from held join platform.deployments other on other.account_id = held.account_id and other.model_id = held.model_id
      where held.kind in ('create', 'update') or other.kind in ('create', 'update')
    )
    select held.account_id, held.id, held.model_id, held.kind, held.generation, held.model_vendor, held.configuration,
      held.phase, held.reason_code, held.status_message, held.attempts, claimed.fence, held.model_availability,
      held.traceparent, coalesce(held.unsettled_at, held.claimed_at) is not null as "mayHaveActed",
      extract(epoch from now() - held.created_at)::float8 * 1000 as "queuedMs",
      extract(epoch from now() - held.accepted_at)::float8 * 1000 as "acceptedMs",
      extract(epoch from held.deadline - now())::float8 * 1000 as "leftMs",
      greatest(0, coalesce(extract(epoch from others.settled_at - now()), 0))::float8 * 1000 as "settlesInMs"
    from held, claimed, others`
  return row ?? null
}
