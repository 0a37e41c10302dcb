import type { CheckpointCounts } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { Sql } from 'postgres'
import type { z } from 'zod'
import { findDoomed, type Doomed, type Removal } from './doomed.ts'

export type Counts = z.infer<typeof CheckpointCounts>

/** So many checkpoints go under one lock. */
const PART = 100
/** How often it finds what may go: until nothing is left, or because the thread changed meanwhile. */
const MAX_PLANS = 100

export const NOTHING: Counts = { checkpoints: 0, blobs: 0, writes: 0 }

export const sum = (one: Counts, other: Counts): Counts => ({
  checkpoints: one.checkpoints + other.checkpoints,
  blobs: one.blobs + other.blobs,
  writes: one.writes + other.writes,
})

/**
 * Counts checkpoints with their writes and the blobs that only they name; deletes them unless it is a dry run. Rows are
 * found one by one in the index, and sets are hashed (which is what `is true` is for), whatever the planner believes of a
 * young table.
 */
const removeOrCount = async (
  sql: Sql,
  { account_id, thread_id, dryRun }: Removal,
  doomed: Doomed,
  from = 0,
  to = Infinity,
) => {
  const { namespaces, ids, child_namespaces, child_ids } = doomed
  const ofThread = sql`account_id = ${account_id} and thread_id = ${thread_id}`
  const deletions = dryRun
    ? sql``
    : sql`, gone as (
        delete from agent.checkpoints where account_id = ${account_id} and ctid = any (array(select ctid from found))
      ), gone_blobs as (
        delete from agent.checkpoint_blobs where account_id = ${account_id} and ctid = any (array(select ctid from found_blobs))
      ), gone_writes as (
        delete from agent.checkpoint_writes where account_id = ${account_id} and ctid = any (array(select ctid from found_writes))
      ), marked as (
        update agent.threads set deleted_through = greatest(deleted_through, (select max(checkpoint_id) from found)), deleted_at = now()
        where ${ofThread} and exists (select from found))`
  const [counts] = await sql<[Counts]>`
    with doomed as materialized (
      select * from unnest(${namespaces}::text[], ${ids}::text[]) as _ (checkpoint_ns, checkpoint_id)
    ), known as materialized (
      select * from doomed union all select * from unnest(${child_namespaces}::text[], ${child_ids}::text[])
    ), found as materialized (
      select c.* from unnest(${namespaces.slice(from, to)}::text[], ${ids.slice(from, to)}::text[]) as part (checkpoint_ns, checkpoint_id), lateral (
        select ctid, checkpoint_ns, checkpoint_id, channels, versions from agent.checkpoints as c
        where ${ofThread} and c.checkpoint_ns = part.checkpoint_ns and c.checkpoint_id = part.checkpoint_id offset 0) as c
      where not exists (
        select from agent.checkpoints where ${ofThread} and ((checkpoint_ns, parent_checkpoint_id) in (select * from doomed)) is true
          and (checkpoint_ns, checkpoint_id) not in (select * from known))
    ), names as materialized (
      select checkpoint_ns, named.channel, named.version from found, unnest(channels, versions) as named (channel, version)
      except
      select checkpoint_ns, named.channel, named.version
      from agent.checkpoints, unnest(channels, versions) as named (channel, version)
      where ${ofThread} and (checkpoint_ns, checkpoint_id) not in (select checkpoint_ns, checkpoint_id from found)
    ), found_blobs as materialized (
      select b.ctid from names, lateral (
        select ctid from agent.checkpoint_blobs as b where ${ofThread}
          and b.checkpoint_ns = names.checkpoint_ns and b.channel = names.channel and b.version = names.version offset 0) as b
    ), found_writes as materialized (
      select w.ctid from found, lateral (
        select ctid from agent.checkpoint_writes as w where ${ofThread}
          and w.checkpoint_ns = found.checkpoint_ns and w.checkpoint_id = found.checkpoint_id offset 0) as w
    ) ${deletions}
    select (select count(*)::integer from found) as checkpoints, (select count(*)::integer from found_blobs) as blobs,
      (select count(*)::integer from found_writes) as writes`
  return counts
}

const underLock = ({ sql }: Pick<Database, 'sql'>, removal: Removal, doomed: Doomed, from: number): Promise<Counts> =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext(${removal.account_id}), hashtext(${removal.thread_id}))`
    return await removeOrCount(tx as unknown as Sql, removal, doomed, from, from + PART)
  })

/**
 * Removes all checkpoints of a thread that are not kept, in parts with a short lock each. When somebody forks a
 * checkpoint that was about to go, what may go is found anew.
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
    for (let from = 0; from < doomed.ids.length; from += PART) {
      const counts = await underLock(db, removal, doomed, from)
      removed = sum(removed, counts)
      if (counts.checkpoints === 0) break
    }
  }
  return { ...removed, isLeft: true }
}
