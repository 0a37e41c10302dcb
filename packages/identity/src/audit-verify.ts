import type { Database } from '@keelson/database'
import { AUDIT_COLUMNS, CHAIN_START, isSameMac, sealMac, type AuditRow, type Seal } from './audit-chain.ts'
import type { AuditCheckpoint } from './audit-sealer.ts'

export type AuditVerdict = {
  rows: number
  seals: number
  /** Rows too young to be sealed. */
  unsealed: number
  /** What is wrong, in words; empty when nothing is. */
  problems: string[]
}

type Sql = Database['sql']

const coveredRows = (sql: Sql, seqs: string) => sql<AuditRow[]>`
  select ${sql(AUDIT_COLUMNS)} from unnest(${seqs}::int8multirange) as range
  join identity.audit_log on seq >= lower(range) and seq < upper(range) order by seq`

const complaint = (key: Buffer, seal: Seal, previous: Buffer, rows: readonly AuditRow[]): string | null => {
  if (rows.length !== seal.row_count) {
    return `seal ${seal.number} covers ${seal.row_count} rows ${seal.seqs}, of which ${rows.length} are there`
  }
  if (isSameMac(sealMac(key, seal, previous, rows), seal.mac)) return null
  return `seal ${seal.number} does not match its rows ${seal.seqs}: one of them, or the seal before, was changed`
}

const verifySeals = async (sql: Sql, key: Buffer, checkpoints: ReadonlyMap<number, string>): Promise<AuditVerdict> => {
  const verdict: AuditVerdict = { rows: 0, seals: 0, unsealed: 0, problems: [] }
  let previous: Pick<Seal, 'number' | 'mac'> = { number: 0, mac: CHAIN_START }
  const seals = sql<Seal[]>`select number, seqs::text, row_count, mac from identity.audit_seals order by number`
  for await (const batch of seals.cursor(100)) {
    for (const seal of batch) {
      if (seal.number !== previous.number + 1) verdict.problems.push(`seal ${previous.number + 1} is missing`)
      const rows = await coveredRows(sql, seal.seqs)
      const problem = complaint(key, seal, previous.mac, rows)
      if (problem !== null) verdict.problems.push(problem)
      const told = checkpoints.get(seal.number)
      if (told !== undefined && told !== seal.mac.toString('hex')) {
        verdict.problems.push(`seal ${seal.number} is not the one of the checkpoint`)
      }
      verdict.rows += rows.length
      verdict.seals += 1
      previous = seal
    }
  }
  const cut = Math.max(0, ...checkpoints.keys())
  if (cut > previous.number) verdict.problems.push(`seals ${previous.number + 1} to ${cut} are cut off the end`)
  return verdict
}

/** Rows under the seals that no seal covers: put in later, since their time to be sealed is over. */
const uncovered = (sql: Sql) => sql<{ seq: number; is_late: boolean }[]>`
  with sealed as (select coalesce(range_agg(seqs), '{}') as seqs from identity.audit_seals),
    settled as (
      select coalesce(max(upper(seqs)), 0) as seq from identity.audit_seals where created_at <= now() - interval '10 minutes'
    )
  select l.seq, l.seq < settled.seq as is_late from identity.audit_log l, sealed, settled
  where not l.seq <@ sealed.seqs order by l.seq`

/**
 * Recomputes every seal over the rows that are there. Finds rows that were edited, deleted, inserted or reordered; with
 * checkpoints also an end that was cut off, and a chain that was made anew.
 *
 * @param checkpoints what the sealer told outside the database
 */
export const verifyAuditLog = async (
  { sql }: Pick<Database, 'sql'>,
  key: Buffer,
  checkpoints: readonly AuditCheckpoint[] = [],
): Promise<AuditVerdict> => {
  const verdict = await verifySeals(sql, key, new Map(checkpoints.map(({ seal, mac }) => [seal, mac])))
  for (const { seq, is_late } of await uncovered(sql)) {
    if (is_late) verdict.problems.push(`row ${seq} was inserted where everything had been sealed`)
    else verdict.unsealed += 1
  }
  return verdict
}
