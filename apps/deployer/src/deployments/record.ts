import type { Database } from '@keelson/database'
import { typeId } from '@keelson/service-kit'
import type { Change, Claim, Limits } from './deployment.ts'

export type RecordOptions = {
  limits: Pick<Limits, 'deployingMs'>
  /** How long after a deployment, and between looks, somebody checks whether the model still serves. */
  observeMs: number
}

/**
 * Writes what a step came to, the deployment and its model in one statement, unless the deployment has ended or was
 * claimed by somebody else since. Locks the model first, as the API does, so that the two never wait for each other.
 *
 * @returns whether it was written
 */
export const recordChange = async (
  sql: Database['sql'],
  claim: Claim,
  change: Change,
  { limits, observeMs }: RecordOptions,
): Promise<boolean> => {
  const { model, waitMs } = change
  const ends = waitMs === null
  const written = typeof model === 'string' ? null : model
  const [row] = await sql<[{ recorded: number }]>`
    with locked as materialized (
      select id from platform.models where account_id = ${claim.account_id} and id = ${claim.model_id} for no key update
    ), recorded as (
      update platform.deployments d
      set phase = ${change.phase}, reason_code = ${change.reason_code}, status_message = ${change.status_message},
        attempts = ${change.attempts}, lease_until = null, next_at = now() + ${waitMs ?? 0}::float8 * interval '1 ms',
        claimed_at = null,
        unsettled_at = case when ${change.uncertain} then claimed_at else unsettled_at end,
        accepted_at = case when ${change.accepted} then coalesce(accepted_at, now()) else accepted_at end,
        deadline = case when ${change.accepted}
          then coalesce(deadline, now() + ${limits.deployingMs}::float8 * interval '1 ms') else deadline end,
        finished_at = case when ${ends} then now() end
      from locked
      where d.account_id = ${claim.account_id} and d.id = ${claim.id} and d.model_id = locked.id
        and d.fence = ${claim.fence} and d.finished_at is null
      returning d.account_id, d.model_id, d.generation, d.kind, d.model_vendor, d.configuration, d.traceparent
    ), modelled as (
      update platform.models m
      set status = coalesce(${written?.status ?? null}, m.status),
        status_reason = case when ${written?.status_reason !== undefined}
          then ${written?.status_reason ?? null} else m.status_reason end,
        model_availability = coalesce(${written?.model_availability ?? null}, m.model_availability),
        observe_at = case when ${ends} then now() + ${observeMs}::float8 * interval '1 ms' end,
        updated_at = case when ${ends} then now() else m.updated_at end
      from recorded r
      where ${written !== null} and m.account_id = r.account_id and m.id = r.model_id and m.generation = r.generation
        and (m.status = 'deploying') = (r.kind in ('create', 'update'))
    ), removed as (
      delete from platform.models m using recorded r
      where ${model === 'removed'} and m.account_id = r.account_id and m.id = r.model_id
    ), cleaned as (
      insert into platform.deployments (account_id, id, model_id, kind, generation, model_vendor, configuration, traceparent)
      select account_id, ${typeId('deploy')}, model_id, 'cleanup', generation, model_vendor, configuration, traceparent
      from recorded where ${change.cleanup}
    )
    select count(*)::int as recorded from recorded`
  return row.recorded > 0
}
