import type { Transaction } from '@keelson/database'

type Told = { id: string; current_version: number; told_version: number; is_deleted: boolean }

/**
 * Credentials of the bound account that the audit log knows better: an older version was put back, or a deleted one. What
 * is sealed is genuine then, so only the log tells. A log that was changed as well is found by `pnpm audit-log verify`.
 *
 * @returns what is wrong, in words
 */
export const rolledBackCredentials = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx<Told[]>`
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
