import type { CheckpointCounts } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { PendingQuery, Row, Sql } from 'postgres'
import type { z } from 'zod'
import { findDoomed, type Doomed } from './doomed.ts'

export type Counts = z.infer<typeof CheckpointCounts>

export type Removal = { account_id: string; thread_id: string; isKept: PendingQuery<Row[]>; dryRun?: boolean }

/** So many checkpoints go under one lock. */
const PART = 250
/** How often it starts over because the thread changed meanwhile. */
const MAX_PLANS = 20

export const NOTHING: Counts = { checkpoints: 0, blobs: 0, writes: 0 }

export const sum = (one: Counts, other: Counts): Counts => ({
  checkpoints: one.checkpoints + other.checkpoints,
  blobs: one.blobs + other.blobs,
  writes: one.writes + other.writes,
})

/** Counts checkpoints with their writes and the blobs that only they name; deletes them unless it is a dry run. */
const removeOrCount = async (
  sql: Sql,
  { account_id, thread_id, dryRun }: Removal,
  { updated_at, namespaces, ids }: Doomed,
) => {
  const remove = (rows: PendingQuery<Row[]>, returning: PendingQuery<Row[]>) =>
    dryRun ? sql`select ${returning} ${rows}` : sql`delete ${rows} returning ${returning}`
  const using = dryRun ? sql`,` : sql`using`
  const mark = dryRun
    ? sql``
    : sql`, marked as (
        update agent.threads set deleted_through = greatest(deleted_through, (select max(checkpoint_id) from gone)), deleted_at = now()
        where account_id = ${account_id} and thread_id = ${thread_id} and exists (select from gone))`
  const [counts] = await sql<[Counts]>`
    with gone as materialized (${remove(
      sql`from agent.checkpoints as c ${using} unnest(${namespaces}::text[], ${ids}::text[]) as doomed (checkpoint_ns, checkpoint_id)
        where c.account_id = ${account_id} and c.thread_id = ${thread_id}
          and c.checkpoint_ns = doomed.checkpoint_ns and c.checkpoint_id = doomed.checkpoint_id
          and exists (select from agent.threads where account_id = ${account_id} and thread_id = ${thread_id} and updated_at = ${updated_at})`,
      sql`c.checkpoint_ns, c.checkpoint_id, c.channels, c.versions`,
    )}), gone_names as materialized (
      select distinct checkpoint_ns, named.channel, named.version from gone, unnest(channels, versions) as named (channel, version)
    ), kept_names as materialized (
      select distinct c.checkpoint_ns, named.channel, named.version
      from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
      where c.account_id = ${account_id} and c.thread_id = ${thread_id}
        and not exists (select from gone where gone.checkpoint_ns = c.checkpoint_ns and gone.checkpoint_id = c.checkpoint_id)
    ), names as materialized (select * from gone_names except select * from kept_names), gone_blobs as (${remove(
      sql`from agent.checkpoint_blobs as b ${using} names
        where b.account_id = ${account_id} and b.thread_id = ${thread_id}
          and b.checkpoint_ns = names.checkpoint_ns and b.channel = names.channel and b.version = names.version`,
      sql`1`,
    )}), gone_writes as (${remove(
      sql`from agent.checkpoint_writes as w ${using} gone
        where w.account_id = ${account_id} and w.thread_id = ${thread_id}
          and w.checkpoint_ns = gone.checkpoint_ns and w.checkpoint_id = gone.checkpoint_id`,
      sql`1`,
    )}) ${mark}
    select (select count(*)::integer from gone) as checkpoints, (select count(*)::integer from gone_blobs) as blobs,
      (select count(*)::integer from gone_writes) as writes`
  return counts
}

const underLock = ({ sql }: Pick<Database, 'sql'>, removal: Removal, doomed: Doomed): Promise<Counts> =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext(${removal.account_id}), hashtext(${removal.thread_id}))`
    return await removeOrCount(tx as unknown as Sql, removal, doomed)
  })

const partsOf = ({ updated_at, namespaces, ids }: Doomed): Doomed[] =>
  Array.from({ length: Math.ceil(ids.length / PART) }, (_, index) => {
    const part = [index * PART, (index + 1) * PART] as const
    return { updated_at, namespaces: namespaces.slice(...part), ids: ids.slice(...part) }
  })

/**
 * Removes all checkpoints of a thread that are not kept, in parts with a short lock each. What is found holds only while
 * nobody puts to the thread; when somebody did, it is found anew.
 *
 * @returns what was removed, and whether some is left because the thread kept changing
 */
export const removeCheckpoints = async (
  db: Pick<Database, 'sql'>,
  removal: Removal,
): Promise<Counts & { isLeft: boolean }> => {
  let removed = NOTHING
  for (let plan = 0; plan < MAX_PLANS; plan += 1) {
    const doomed = await findDoomed(db, removal)
    if (doomed === null) return { ...removed, isLeft: false }
    if (removal.dryRun) return { ...(await removeOrCount(db.sql, removal, doomed)), isLeft: false }
    for (const part of partsOf(doomed)) {
      const counts = await underLock(db, removal, part)
      removed = sum(removed, counts)
      if (counts.checkpoints === 0) break
    }
  }
  return { ...removed, isLeft: true }
}
