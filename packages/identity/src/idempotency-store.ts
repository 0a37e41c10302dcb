import { createHmac } from 'node:crypto'
import { withAccount, type Database, type Transaction } from '@keelson/database'
import type { IdempotencyState, IdempotencyStore, IdempotentRequest } from '@keelson/service-kit'

/** An answer is repeated for a day. */
const KEPT = '24 hours'
/** A request without an answer after this long has lost its process. */
const ABANDONED = '2 minutes'

type Row = { fingerprint: string; status: number | null; body: string | null }

/** Takes the key when it is new, too old, or left behind by a process that died on the same request. */
const take = async (
  tx: Transaction,
  { account_id, operation, key, fingerprint }: IdempotentRequest,
): Promise<boolean> => {
  const { count } = await tx`
    insert into identity.idempotency_keys as k (account_id, operation, key, fingerprint)
    values (${account_id}, ${operation}, ${key}, ${fingerprint})
    on conflict (account_id, operation, key) do update
    set fingerprint = excluded.fingerprint, started_at = now(), status = null, body = null
    where k.started_at < now() - ${KEPT}::interval
      or (k.status is null and k.fingerprint = excluded.fingerprint and k.started_at < now() - ${ABANDONED}::interval)`
  return count === 1
}

/** Every new key takes some expired ones of its account with it, so that the table keeps no more than it must. */
const sweep = (tx: Transaction, account_id: string) => tx`
  delete from identity.idempotency_keys where ctid in (
    select ctid from identity.idempotency_keys
    where account_id = ${account_id} and started_at < now() - ${KEPT}::interval limit 10 for update skip locked)`

const earlier = async (
  tx: Transaction,
  { account_id, operation, key, fingerprint }: IdempotentRequest,
): Promise<IdempotencyState> => {
  const [row] = await tx<Row[]>`
    select fingerprint, status, body from identity.idempotency_keys
    where account_id = ${account_id} and operation = ${operation} and key = ${key}`
  if (!row) return { outcome: 'conflict' }
  if (row.fingerprint !== fingerprint) return { outcome: 'reused' }
  if (row.status === null || row.body === null) return { outcome: 'conflict' }
  return { outcome: 'replay', answer: { status: row.status, body: row.body } }
}

/**
 * Remembers for a day what requests with an `Idempotency-Key` were answered.
 *
 * @param pepper what fingerprints are keyed with: a bare hash of a body would let whoever reads the table guess at
 * weak secrets in it
 */
export const idempotencyStore = (db: Pick<Database, 'sql'>, pepper: Buffer): IdempotencyStore => {
  const keyed = (request: IdempotentRequest): IdempotentRequest => ({
    ...request,
    fingerprint: createHmac('sha256', pepper).update(request.fingerprint).digest('hex'),
  })
  const { begin, finish } = storeOf(db)
  return { begin: (request) => begin(keyed(request)), finish: (request, answer) => finish(keyed(request), answer) }
}

const storeOf = (db: Pick<Database, 'sql'>): IdempotencyStore => ({
  begin: (request) =>
    withAccount(db, request.account_id, async (tx) => {
      if (!(await take(tx, request))) return earlier(tx, request)
      await sweep(tx, request.account_id)
      return { outcome: 'go' }
    }),

  finish: ({ account_id, operation, key, fingerprint }, answer) =>
    withAccount(db, account_id, async (tx) => {
      const mine = tx`account_id = ${account_id} and operation = ${operation} and key = ${key} and fingerprint = ${fingerprint}`
      if (answer === null) await tx`delete from identity.idempotency_keys where ${mine} and status is null`
      else await tx`update identity.idempotency_keys set status = ${answer.status}, body = ${answer.body} where ${mine}`
    }),
})
