import type { CheckpointTtl } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { notFound } from '@keelson/service-kit'
import type { z } from 'zod'

type Ttl = z.infer<typeof CheckpointTtl>

/** Stored for a thread that is kept for ever, whatever the account says. */
const FOR_EVER = 0

/** The seconds that a thread `t` is kept after its last change: by its own rule, else that of its account, `d`. Null is for ever. */
export const secondsKept = ({ sql }: Pick<Database, 'sql'>) =>
  sql`nullif(coalesce(t.ttl_seconds, d.ttl_seconds), ${FOR_EVER})`

const accountTtl = async ({ sql }: Pick<Database, 'sql'>, account_id: string): Promise<Ttl> => {
  const [row] = await sql<
    { ttl_seconds: number }[]
  >`select ttl_seconds from agent.checkpoint_ttls where account_id = ${account_id}`
  return { thread_id: null, ttl_seconds: row?.ttl_seconds ?? null }
}

/**
 * How long a thread is kept, by its own rule or the account's; without a thread, the account's.
 *
 * @throws ApiError `not_found` for a thread without checkpoints
 */
export const getTtl = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  thread_id: string | undefined,
): Promise<Ttl> => {
  if (thread_id === undefined) return await accountTtl(db, account_id)
  const [row] = await db.sql<{ ttl_seconds: number | null }[]>`
    select ${secondsKept(db)} as ttl_seconds
    from agent.threads as t left join agent.checkpoint_ttls as d on d.account_id = t.account_id
    where t.account_id = ${account_id} and t.thread_id = ${thread_id}
      and exists (select from agent.checkpoints where account_id = ${account_id} and thread_id = ${thread_id})`
  return row ? { thread_id, ttl_seconds: row.ttl_seconds } : notFound('thread')
}

/**
 * Sets how long a thread, or any thread of the account without a rule of its own, is kept after its last change.
 *
 * @throws ApiError `not_found` for a thread without checkpoints
 */
export const setTtl = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  { thread_id, ttl_seconds }: { thread_id?: string | undefined; ttl_seconds: number | null },
): Promise<Ttl> => {
  const { sql } = db
  if (thread_id !== undefined) {
    const { count } = await sql`
      update agent.threads set ttl_seconds = ${ttl_seconds ?? FOR_EVER} where account_id = ${account_id} and thread_id = ${thread_id}
        and exists (select from agent.checkpoints where account_id = ${account_id} and thread_id = ${thread_id})`
    return count > 0 ? { thread_id, ttl_seconds } : notFound('thread')
  }
  if (ttl_seconds === null) await sql`delete from agent.checkpoint_ttls where account_id = ${account_id}`
  else
    await sql`
      insert into agent.checkpoint_ttls (account_id, ttl_seconds) values (${account_id}, ${ttl_seconds})
      on conflict (account_id) do update set ttl_seconds = excluded.ttl_seconds`
  return { thread_id: null, ttl_seconds }
}
