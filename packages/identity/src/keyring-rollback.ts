import { MAX_GRACE_SECONDS } from '@keelson/contracts/agent'
import type { Transaction } from '@keelson/database'

type ToldCredential = { id: string; current_version: number; told_version: number; is_deleted: boolean }

/**
 * Credentials of the bound account that the audit log knows better: an older version was put back, or a deleted one. What
 * is sealed is genuine then, so only the log tells. A log that was changed as well is found by `pnpm audit-log verify`.
 *
 * @returns what is wrong, in words
 */
export const rolledBackCredentials = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx<ToldCredential[]>`
    select c.id, c.current_version, max(l.target_version) as told_version,
      bool_or(l.action = 'credential.delete') as is_deleted
    from identity.audit_log l
    join platform.credentials c on c.account_id = l.account_id and c.id = l.target_id
    where l.account_id = current_setting('keelson.account_id') and l.target_type = 'credential' and l.outcome = 'done'
    group by c.id, c.current_version
    having max(l.target_version) > c.current_version or bool_or(l.action = 'credential.delete')`
  return rows.map(({ id, current_version, told_version, is_deleted }) =>
    is_deleted
      ? `credential ${id} is there although it was deleted`
      : `credential ${id} is at version ${current_version}, and was at ${told_version} before`,
  )
}

type ToldKey = { id: string; version: number; told_version: number; is_deleted: boolean; is_overdue: boolean }

/**
 * Keys of agents of the bound account that the audit log knows better: a former secret was put back, or kept for longer
 * than any grace period, or the key was deleted, be it with its agent.
 *
 * @returns what is wrong, in words
 */
export const rolledBackAgentKeys = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx<ToldKey[]>`
    with told as (
      select target_id as id, max(target_version) as version, min(seq) as first_seq,
        bool_or(action = 'agent_api_key.delete') as is_deleted, max(at) filter (where action = 'agent_api_key.rotate') as rotated_at
      from identity.audit_log
      where account_id = current_setting('keelson.account_id') and target_type = 'agent_api_key' and outcome = 'done'
      group by target_id
    ), agents as (
      select target_id as id, max(seq) as deleted_seq from identity.audit_log
      where account_id = current_setting('keelson.account_id') and action = 'agent.delete' and outcome = 'done'
      group by target_id
    ), stored as (
      select k.id, coalesce(max(s.version), 0) as version, told.version as told_version,
        told.is_deleted or coalesce(told.first_seq < agents.deleted_seq, false) as is_deleted,
        coalesce(bool_or(s.version < told.version
          and coalesce(s.expires_at, 'infinity') > told.rotated_at + ${MAX_GRACE_SECONDS} * interval '1 second'), false) as is_overdue
      from agent.agent_api_keys k
      join told on told.id = k.id
      left join agents on agents.id = k.agent_id
      left join agent.agent_api_key_secrets s on s.account_id = k.account_id and s.key_id = k.id
      where k.account_id = current_setting('keelson.account_id')
      group by k.id, told.version, told.is_deleted, told.first_seq, agents.deleted_seq
    )
    select * from stored where is_deleted or is_overdue or version < told_version order by id`
  return rows.map(({ id, version, told_version, is_deleted }) => {
    if (is_deleted) return `agent key ${id} is there although it was deleted`
    if (version < told_version) return `agent key ${id} is at version ${version}, and was at ${told_version} before`
    return `agent key ${id} still has a secret from before version ${told_version}`
  })
}

/**
 * Agents of the bound account whose signing secret is of a life that ended: it was put back after the agent was deleted.
 *
 * @returns what is wrong, in words
 */
export const rolledBackSigningSecrets = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx<{ agent_id: string; version: number }[]>`
    select s.agent_id, s.version from agent.signing_secrets s
    join (
      select target_id, max(target_version) as ended_life from identity.audit_log
      where account_id = current_setting('keelson.account_id') and action = 'agent.delete' and outcome = 'done'
      group by target_id
    ) as told on told.target_id = s.agent_id and told.ended_life >= s.version
    where s.account_id = current_setting('keelson.account_id')
    order by s.agent_id, s.version`
  return rows.map(
    ({ agent_id, version }) => `signing secret ${version} of agent ${agent_id} is there although the agent was deleted`,
  )
}
