import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Transaction } from '@keelson/database'
import { AUDIT_COLUMNS, CHAIN_START, rangesOf, sealMac, type AuditRow, type Seal } from './audit-chain.ts'

/** What is told of a seal outside the database: whoever rewrites the log cannot rewrite this. */
export type AuditCheckpoint = { seal: number; rows: number; mac: string }

export type AuditSealerOptions = {
  db: Pick<Database, 'sql'>
  /** What rows are sealed under, see `systemSecret` with `audit.mac`. */
  key: Buffer
  /** Writes a checkpoint to a place of its own. */
  checkpoint: (checkpoint: AuditCheckpoint) => Promise<void>
  intervalMs?: number
  onError?: (error: unknown) => void
}

const BATCH_ROWS = 5_000

const lastSeal = async (tx: Transaction): Promise<Pick<Seal, 'number' | 'mac'>> => {
  const [seal] = await tx<Pick<Seal, 'number' | 'mac'>[]>`
    select number, mac from identity.audit_seals where account_id = 'system' order by number desc limit 1`
  return seal ?? { number: 0, mac: CHAIN_START }
}

const sealBatch = async (tx: Transaction, key: Buffer): Promise<AuditCheckpoint | null> => {
  const [turn] = await tx<{ taken: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('keelson audit seals', 0)) as taken`
  if (!turn?.taken) return null
  const rows = await tx<AuditRow[]>`select ${tx(AUDIT_COLUMNS)} from identity.unsealed_audit_rows(${BATCH_ROWS})`
  if (rows.length === 0) return null
  const last = await lastSeal(tx)
  const head = { number: last.number + 1, seqs: rangesOf(rows.map(({ seq }) => seq)), row_count: rows.length }
  const mac = sealMac(key, head, last.mac, rows)
  await tx`
    insert into identity.audit_seals (number, seqs, row_count, mac)
    values (${head.number}, ${head.seqs}, ${head.row_count}, ${mac})`
  return { seal: head.number, rows: head.row_count, mac: mac.toString('hex') }
}

/**
 * Seals every row that has none, up to 5000 a seal. Replicas take turns: one that finds another at it does nothing.
 *
 * @returns how many rows were sealed
 */
export const sealAuditLog = async ({ db, key, checkpoint }: AuditSealerOptions): Promise<number> => {
  let sealed = 0
  while (true) {
    const made = await db.sql.begin((tx) => sealBatch(tx, key))
    if (made === null) return sealed
    await checkpoint(made)
    sealed += made.rows
    if (made.rows < BATCH_ROWS) return sealed
  }
}

/** Seals the audit log every `intervalMs` (default 2 s) until disposed. What fails is tried again the next time. */
export const auditSealer = (options: AuditSealerOptions): AsyncDisposable => {
  const { intervalMs = 2_000, onError = () => {} } = options
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await sealAuditLog(options).catch(onError)
      await delay(intervalMs, null, { signal: stop.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}
