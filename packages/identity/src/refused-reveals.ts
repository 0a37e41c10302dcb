import type { ErrorCode } from '@keelson/contracts'
import { groupCommit, isTransient, type Database } from '@keelson/database'
import { AUDIT_OUTCOMES, type AuditOutcome } from '@keelson/database/identity'
import type { AuditedBy } from './audit-entry.ts'
import { namedTarget, overloaded, type CredentialKey } from './audited-reads.ts'

/** A reveal that was answered with `code`; its key is `null` when what was asked for can name nothing. */
export type RefusedReveal = AuditedBy & { key: CredentialKey | null; code: ErrorCode }

const outcomeOf = (code: ErrorCode): AuditOutcome =>
  AUDIT_OUTCOMES.find((outcome) => outcome === code) ?? 'invalid_request'

const record = async ({ sql }: Pick<Database, 'sql'>, refused: readonly RefusedReveal[]): Promise<undefined[]> => {
  const column = (field: (reveal: RefusedReveal) => string | null) => refused.map(field)
  await sql`
    select platform.record_refused_reveals(
      ${column(({ principal }) => principal.account_id)}::text[],
      ${column(({ key }) => key && namedTarget(key))}::text[],
      ${column(({ code }) => outcomeOf(code))}::text[],
      ${column(({ principal }) => principal.key_id)}::text[],
      ${column(({ principal }) => principal.identity_id)}::text[],
      ${column(({ principal }) => principal.identity_type)}::text[],
      ${column(({ requestId }) => requestId)}::text[]
    )`
  return refused.map(() => undefined)
}

/**
 * Leaves the audit rows of reveals that were refused before anything was read. All that come while one statement is under
 * way share the next: a key that asks too often occupies one connection, however often it asks.
 */
export const refusedReveals = (db: Pick<Database, 'sql'>) => {
  let count = 0
  const queue = groupCommit<RefusedReveal & { key_of_item: string }, undefined>({
    write: (refused) => record(db, refused),
    keyOf: ({ key_of_item }) => key_of_item,
    isTransient,
    lanes: 1,
    maxItems: 100,
    maxBytes: 262_144,
    maxQueuedBytes: 8_388_608,
    stallMs: 5_000,
  })
  return (refused: RefusedReveal): Promise<void> => {
    const item = { ...refused, key_of_item: String((count += 1)) }
    return queue.submit(refused.principal.account_id, item, 1024).catch(overloaded)
  }
}
