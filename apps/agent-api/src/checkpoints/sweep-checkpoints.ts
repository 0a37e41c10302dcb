import type { Database } from '@keelson/database'
import { deleteAtOnce } from './delete-thread.ts'
import { MAX_LOCKED_BYTES, MAX_LOCKED_ROWS } from './lock-limits.ts'
import { secondsKept } from './ttl.ts'

export type SweepOptions = {
  /** The most threads and tombstones of one sweep; 100 when left out. */
  limit?: number
  /** How long the tombstone of a deleted thread refuses late writes; 7 days when left out. */
  tombstoneSeconds?: number
}

/** What one sweep did; a full batch says that there may be more. */
export type Swept = { threads: number; tombstones: number }

type Expired = { account_id: string; thread_id: string; updated_at: string }

const WEEK_SECONDS = 604_800

/**
 * Threads with a rule of their own have an index, so these are found apart from those with the rule of an account. Writes
 * move the last change once a second, so a thread may be a second younger than it says.
 */
const findExpired = (db: Pick<Database, 'sql'>, limit: number) => {
  const { sql } = db
  const expired = (hasRule: ReturnType<typeof sql>) => sql`
    select t.account_id, t.thread_id, t.updated_at
    from agent.threads as t left join agent.checkpoint_ttls as d on d.account_id = t.account_id
    where ${hasRule} and t.updated_at < now() - make_interval(secs => ${secondsKept(db)}) - interval '1 second'
      and (t.deleted_at is null or exists (
        select from agent.checkpoints as c where c.account_id = t.account_id and c.thread_id = t.thread_id))
    limit ${limit}`
  return sql<Expired[]>`
    (${expired(sql`t.ttl_seconds > 0`)}) union all (${expired(sql`t.ttl_seconds is null and d.account_id is not null`)}) limit ${limit}`
}

type Tombstone = { account_id: string; thread_id: string }

const findTombstones = ({ sql }: Pick<Database, 'sql'>, limit: number, seconds: number) => sql<Tombstone[]>`
  select account_id, thread_id from agent.threads as t
  where deleted_at < now() - make_interval(secs => ${seconds})
    and (updated_at < now() - make_interval(secs => ${seconds}) or exists (
      select from agent.checkpoints as c where c.account_id = t.account_id and c.thread_id = t.thread_id))
  limit ${limit}`

/** Forgets an old deletion, with what is left of the thread when it is gone. */
const dropTombstone = async ({ sql }: Pick<Database, 'sql'>, { account_id, thread_id }: Tombstone, seconds: number) => {
  let isLeft = true
  while (isLeft) {
    const [dropped] = await sql<[{ is_left: boolean }]>`
      select agent.drop_tombstone(${account_id}, ${thread_id}, ${MAX_LOCKED_ROWS}, ${MAX_LOCKED_BYTES}, ${seconds}) as is_left`
    isLeft = dropped.is_left
  }
}

/**
 * Deletes threads whose time is over, across accounts, a small batch at a time. A thread that changes meanwhile stays.
 * Several processes may sweep at once.
 *
 * @throws the first of what failed, once everything else is swept: a thread that somebody holds stops no other
 */
export const sweepCheckpoints = async (
  db: Pick<Database, 'sql'>,
  { limit = 100, tombstoneSeconds = WEEK_SECONDS }: SweepOptions = {},
): Promise<Swept> => {
  const failures: unknown[] = []
  const failed = (error: unknown) => void failures.push(error)
  const expired = await findExpired(db, limit)
  for (const { account_id, thread_id, updated_at } of expired)
    await deleteAtOnce(db, account_id, thread_id, updated_at).catch(failed)
  const old = await findTombstones(db, limit, tombstoneSeconds)
  for (const tombstone of old) await dropTombstone(db, tombstone, tombstoneSeconds).catch(failed)
  if (failures.length > 0) throw failures[0]
  return { threads: expired.length, tombstones: old.length }
}
