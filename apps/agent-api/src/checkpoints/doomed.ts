import type { Database } from '@keelson/database'
import type { PendingQuery, Row } from 'postgres'

/** Checkpoints of a thread that may go, the newest first: whatever is left has what it is rebuilt from, all of it older. */
export type Doomed = {
  namespaces: string[]
  ids: string[]
  /** Of their own texts. */
  bytes: number[]
  /** Checkpoints that must stay for others, and the delta channels that these rebuild from each, as JSON. */
  ancestor_namespaces: string[]
  ancestor_ids: string[]
  ancestor_channels: string[]
  /** The snapshot this was found in, which tells what came since. */
  planned_at: string
  /** When something of the thread was last removed. */
  marked_at: string | null
}

/** Which checkpoints of a thread are to go, or only to be counted; `isKept` is a condition on `ranked`. */
export type Removal = { account_id: string; thread_id: string; isKept: PendingQuery<Row[]>; dryRun?: boolean }

/** So many are found at once, unless they are only counted; those left are found by asking again. */
export const MAX_DOOMED = 5000

/** Clients of checkpoints before version 4 read the sends of a step from the writes of its parent. */
const SENDS = '__pregel_tasks'
const READS_SENDS_OF_PARENT = String.raw`"v"\s*:\s*[0-3](\.0+)?\s*[,}]`

/**
 * Whether `checkpoint` holds a value of `channel`, both names of the query around it. The offset makes it one look into
 * the index for each, whatever the planner believes of a young table.
 */
const hasValue = (
  { sql }: Pick<Database, 'sql'>,
  account_id: string,
  thread_id: string,
  checkpoint: PendingQuery<Row[]>,
  channel: PendingQuery<Row[]>,
) => sql`
  exists (
    select from agent.checkpoint_blobs as b
    where b.account_id = ${account_id} and b.thread_id = ${thread_id} and b.checkpoint_ns = ${checkpoint}.checkpoint_ns
      and b.channel = ${channel} and b.version = ${checkpoint}.versions[array_position(${checkpoint}.channels, ${channel})]
      and b.blob is not null and b.type <> 'empty' offset 0)`

/**
 * Delta channels, and the first write of each: before that there is nothing to rebuild one from. They are those that
 * LangGraph counts in the metadata, those that something is kept for already, whatever told so then, and those whose writes
 * gave them a version in the next step and no value. Without a version there the write was abandoned, as those of an
 * interrupted step are when new input comes, unless the checkpoint names no versions at all; and what branches lead through
 * is never a delta channel.
 */
const deltaChannels = (db: Pick<Database, 'sql'>, { account_id, thread_id }: Removal) => {
  const { sql } = db
  const ofThread = sql`w.account_id = ${account_id} and w.thread_id = ${thread_id}`
  return sql`
    select checkpoint_ns, channel, (
      select w.checkpoint_id from agent.checkpoint_writes as w
      where ${ofThread} and w.checkpoint_ns = named.checkpoint_ns and w.channel = named.channel
      order by w.checkpoint_id limit 1) as first_id
    from (
      select checkpoint_ns, jsonb_object_keys(metadata_filter -> 'counters_since_delta_snapshot') collate "C" as channel
      from ranked where jsonb_typeof(metadata_filter -> 'counters_since_delta_snapshot') = 'object'
      union
      select checkpoint_ns, kept.channel from ranked, unnest(kept_for) as kept (channel) where kept.channel <> ${SENDS}
      union
      select ranked.checkpoint_ns, w.channel
      from ranked, lateral (
        select channel from agent.checkpoint_writes as w
        where ${ofThread} and w.checkpoint_ns = ranked.checkpoint_ns and w.checkpoint_id = ranked.parent_checkpoint_id
          and (not starts_with(w.channel, '__') or w.channel = '__root__') and not starts_with(w.channel, 'branch:to:') offset 0) as w
      where (w.channel = any (ranked.channels) or cardinality(ranked.channels) = 0)
        and not ${hasValue(db, account_id, thread_id, sql`ranked`, sql`w.channel`)}
    ) as named`
}

/** Whether a checkpoint of `ranked` has sends that its parent holds. */
const readsSends = ({ sql }: Pick<Database, 'sql'>, { account_id, thread_id }: Removal) => sql`
  case when exists (
    select from agent.checkpoint_writes as w
    where w.account_id = ${account_id} and w.thread_id = ${thread_id} and w.checkpoint_ns = ranked.checkpoint_ns
      and w.checkpoint_id = ranked.parent_checkpoint_id and w.channel = ${SENDS} offset 0)
  then exists (
    select from agent.checkpoints as c
    where c.account_id = ${account_id} and c.thread_id = ${thread_id} and c.checkpoint_ns = ranked.checkpoint_ns
      and c.checkpoint_id = ranked.checkpoint_id and c.checkpoint ~ ${READS_SENDS_OF_PARENT} offset 0) end`

/**
 * Finds what may go when `isKept`, a condition on `ranked`, tells what stays. An ancestor stays as well while a kept
 * checkpoint needs it to rebuild a delta channel: from the kept one back to the nearest value. A checkpoint without a
 * version of the channel has nothing to rebuild, unless an earlier one was written to: LangGraph replays such writes. The
 * parent of one that reads its sends stays too. Such ancestors stay for these channels only: of another they may no longer
 * have what they would need themselves.
 */
export const findDoomed = async (db: Pick<Database, 'sql'>, removal: Removal): Promise<Doomed | null> => {
  const { account_id, thread_id, isKept, dryRun = false } = removal
  const { sql } = db
  const ofThread = (table: PendingQuery<Row[]>) =>
    sql`${table}.account_id = ${account_id} and ${table}.thread_id = ${thread_id}`
  const isRebuilt = (checkpoint: PendingQuery<Row[]>, delta: PendingQuery<Row[]>) => sql`
    ${checkpoint}.parent_checkpoint_id is not null
    and (${delta}.channel = any (${checkpoint}.channels) or cardinality(${checkpoint}.channels) = 0 or ${checkpoint}.checkpoint_id > ${delta}.first_id)
    and not ${hasValue(db, account_id, thread_id, checkpoint, sql`${delta}.channel`)}`
  const stays = sql`(kept_for is null and (${isKept}))`
  const [doomed] = await sql<[Doomed?]>`
    with recursive ranked as materialized (
      select checkpoint_ns, checkpoint_id, parent_checkpoint_id, channels, versions, metadata_filter, run_id, created_at, kept_for,
        octet_length(checkpoint) + octet_length(metadata) as bytes,
        row_number() over (partition by checkpoint_ns, kept_for is null order by checkpoint_id desc) as rank
      from agent.checkpoints as c where ${ofThread(sql`c`)}
    ), deltas as materialized (${deltaChannels(db, removal)}
    ), needed (checkpoint_ns, checkpoint_id, channel, first_id) as (
      select ranked.checkpoint_ns, parent_checkpoint_id, deltas.channel, deltas.first_id
      from ranked join deltas using (checkpoint_ns)
      where ${stays} and ${isRebuilt(sql`ranked`, sql`deltas`)}
      union
      select checkpoint_ns, parent_checkpoint_id, ${SENDS}, null from ranked where ${stays} and ${readsSends(db, removal)}
      union
      select p.checkpoint_ns, p.parent_checkpoint_id, needed.channel, needed.first_id
      from needed, lateral (
        select checkpoint_ns, checkpoint_id, parent_checkpoint_id, channels, versions from agent.checkpoints as c
        where ${ofThread(sql`c`)} and c.checkpoint_ns = needed.checkpoint_ns and c.checkpoint_id = needed.checkpoint_id offset 0) as p
      where needed.channel <> ${SENDS} and ${isRebuilt(sql`p`, sql`needed`)}
    ), doomed as (
      select checkpoint_ns, checkpoint_id, bytes from ranked
      where ${stays} is not true
        and (checkpoint_ns, checkpoint_id) not in (select checkpoint_ns, checkpoint_id from needed)
      order by checkpoint_id desc limit ${dryRun ? null : MAX_DOOMED}
    ), ancestors as (
      select checkpoint_ns, checkpoint_id, jsonb_agg(distinct needed.channel)::text as channels
      from ranked join needed using (checkpoint_ns, checkpoint_id)
      where kept_for is null and ${stays} is not true group by checkpoint_ns, checkpoint_id
    )
    select coalesce(array_agg(checkpoint_ns), '{}') as namespaces, coalesce(array_agg(checkpoint_id), '{}') as ids,
      coalesce(array_agg(bytes), '{}') as bytes,
      coalesce((select array_agg(checkpoint_ns) from ancestors), '{}') as ancestor_namespaces,
      coalesce((select array_agg(checkpoint_id) from ancestors), '{}') as ancestor_ids,
      coalesce((select array_agg(channels) from ancestors), '{}') as ancestor_channels,
      pg_current_snapshot()::text as planned_at,
      (select deleted_at::text from agent.threads as t where ${ofThread(sql`t`)}) as marked_at
    from doomed having count(*) > 0 or exists (select from ancestors)`
  return doomed ?? null
}
