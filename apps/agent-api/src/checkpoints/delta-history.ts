import type { DeltaHistoryRequest, DeltaHistoryResponse } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { orRefusal } from './refusals.ts'
import { weightOf } from './tuple-statement.ts'

type Query = z.output<typeof DeltaHistoryRequest>
type Row = {
  is_seed: boolean
  checkpoint_id: string
  channel: string
  version: string
  type: string
  blob: string
  task_id: string
  idx: number
}

/**
 * What was written to channels on the way from their last value to a checkpoint, in one recursive statement that stops
 * as soon as every channel has a value. The writes of the checkpoint itself are not part of it; those of the ancestor
 * that holds the value are.
 *
 * Parents are the caller's data and may close a circle. A list of all that was seen would make the walk quadratic, so it
 * remembers one checkpoint, the last whose depth is a power of two, and ends where that comes again: after at most three
 * times as many steps as there are checkpoints, of which the first visit counts.
 *
 * @throws ApiError `tuple_too_large` when they weigh more than `maxBytes` together
 */
export const deltaHistory = async (
  { sql }: Pick<Database, 'sql'>,
  account_id: string,
  query: Query,
  maxBytes: number,
): Promise<DeltaHistoryResponse> => {
  const { thread_id, checkpoint_ns, checkpoint_id } = query
  const channels = [...new Set(query.channels)]
  const ofThread = sql`account_id = ${account_id} and thread_id = ${thread_id} and checkpoint_ns = ${checkpoint_ns}`
  const atCheckpoint =
    checkpoint_id === undefined ? sql`and kept_for is null` : sql`and checkpoint_id = ${checkpoint_id}`
  const rows = await orRefusal(sql<Row[]>`
    with recursive walk as (
      (select 0 as depth, checkpoint_id, parent_checkpoint_id, checkpoint_id as landmark, ${channels}::text[] collate "C" as wanted,
        '{}'::text[] collate "C" as seeded, '{}'::text[] collate "C" as seed_versions
       from agent.checkpoints where ${ofThread} ${atCheckpoint} order by checkpoint_id desc limit 1)
      union all
      select next.depth, c.checkpoint_id, c.parent_checkpoint_id,
        case when next.depth & (next.depth - 1) = 0 then c.checkpoint_id else walk.landmark end,
        still.wanted, found.channels, found.versions
      from walk
      cross join lateral (select walk.depth + 1 as depth) as next
      cross join lateral (
        select array(select unnest(walk.wanted) except select unnest(walk.seeded)) as wanted) as still
      cross join lateral (
        select checkpoint_id, parent_checkpoint_id, channels, versions from agent.checkpoints
        where ${ofThread} and checkpoint_id = walk.parent_checkpoint_id limit 1) as c
      cross join lateral (
        select coalesce(array_agg(named.channel), '{}') as channels, coalesce(array_agg(named.version), '{}') as versions
        from unnest(c.channels, c.versions) as named (channel, version)
        where named.channel = any (still.wanted) and exists (
          select from agent.checkpoint_blobs as b where ${ofThread}
            and b.channel = named.channel and b.version = named.version and b.blob is not null and b.type <> 'empty')) as found
      where cardinality(still.wanted) > 0 and c.checkpoint_id <> walk.landmark
    ), chain as materialized (
      select distinct on (checkpoint_id) * from walk order by checkpoint_id, depth
    ), found as materialized (
      select true as is_seed, 0 as depth, chain.checkpoint_id, named.channel, named.version, b.type, b.blob, null as task_path, null as task_id, null::integer as idx
      from chain, unnest(seeded, seed_versions) as named (channel, version), lateral (
        select type, blob from agent.checkpoint_blobs as b where ${ofThread} and b.channel = named.channel and b.version = named.version limit 1) as b
      union all
      select false, depth, chain.checkpoint_id, w.channel, null, w.type, w.blob, w.task_path, w.task_id, w.idx
      from chain, lateral (
        select channel, type, blob, task_path, task_id, idx from agent.checkpoint_writes as w
        where ${ofThread} and w.checkpoint_id = chain.checkpoint_id and w.channel = any (chain.wanted) offset 0) as w
      where depth > 0
    )
    select is_seed, checkpoint_id, channel, version, type, replace(encode(blob, 'base64'), E'\n', '') as blob, task_id, idx
    from found where (select sum(${sql.unsafe(weightOf('blob'))}) from found) <= ${maxBytes}::bigint or agent.refuse('tuple_too_large')
    order by is_seed desc, depth desc, task_path collate "C", task_id collate "C", idx`)
  return {
    channels: channels.map((channel) =>
      historyOf(
        channel,
        rows.filter((row) => row.channel === channel),
      ),
    ),
  }
}

const historyOf = (channel: string, rows: readonly Row[]): DeltaHistoryResponse['channels'][number] => {
  const seed = rows.find(({ is_seed }) => is_seed)
  const writes = rows.filter(({ is_seed }) => !is_seed)
  return {
    channel,
    writes: writes.map(({ checkpoint_id, task_id, idx, type, blob }) => ({
      checkpoint_id,
      task_id,
      idx,
      channel,
      type,
      blob,
    })),
    seed: seed
      ? { checkpoint_id: seed.checkpoint_id, channel, version: seed.version, type: seed.type, blob: seed.blob }
      : null,
  }
}
