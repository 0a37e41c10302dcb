import { createHmac, timingSafeEqual } from 'node:crypto'

/** A row of the audit log as it is sealed and exported. */
export type AuditRow = {
  account_id: string
  seq: number
  at: string
  key_id: string
  identity_id: string
  identity_type: string
  action: string
  target_type: string
  target_id: string | null
  target_version: number | null
  outcome: string
  request_id: string
}

export const AUDIT_COLUMNS = [
  'account_id',
  'seq',
  'at',
  'key_id',
  'identity_id',
  'identity_type',
  'action',
  'target_type',
  'target_id',
  'target_version',
  'outcome',
  'request_id',
] as const satisfies (keyof AuditRow)[]

/** A seal without its MAC: which rows it covers, in the notation of Postgres for a multirange. */
export type SealHead = { number: number; seqs: string; row_count: number }
export type Seal = SealHead & { mac: Buffer }

/** What the first seal follows. */
export const CHAIN_START = Buffer.alloc(32)

/** The sequence numbers of rows, ascending, as Postgres writes the smallest multirange of them. */
export const rangesOf = (seqs: readonly number[]): string => {
  const ranges: [from: number, to: number][] = []
  for (const seq of seqs) {
    const last = ranges.at(-1)
    if (last?.[1] === seq) last[1] = seq + 1
    else ranges.push([seq, seq + 1])
  }
  return `{${ranges.map(([from, to]) => `[${from},${to})`).join(',')}}`
}

/** HMAC-SHA-256 over a seal, the rows it covers in ascending order, and the MAC of the seal before it. */
export const sealMac = (
  key: Buffer,
  { number, seqs, row_count }: SealHead,
  previous: Buffer,
  rows: readonly AuditRow[],
): Buffer => {
  const hmac = createHmac('sha256', key)
  hmac.update(`${JSON.stringify([number, seqs, row_count, previous.toString('hex')])}\n`)
  for (const row of rows) hmac.update(`${JSON.stringify(AUDIT_COLUMNS.map((column) => row[column]))}\n`)
  return hmac.digest()
}

export const isSameMac = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)
