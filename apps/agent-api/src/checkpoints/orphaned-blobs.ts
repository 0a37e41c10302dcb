import type { CheckpointCounts } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import type { Doomed, Removal } from './doomed.ts'

/** A blob that only checkpoints that may go name; `position` is the last of those in {@link Doomed}, from 1. */
export type OrphanedBlob = { checkpoint_ns: string; channel: string; version: string; position: number }

/**
 * The blobs that go with checkpoints, as a query. Rows are found one by one in the index, and sets are hashed (which is
 * what `is not true` is for), whatever the planner believes of a young table.
 */
const orphanedBlobs = (
  { sql }: Pick<Database, 'sql'>,
  { account_id, thread_id }: Removal,
  { namespaces, ids }: Doomed,
) => {
  const ofThread = sql`account_id = ${account_id} and thread_id = ${thread_id}`
  return sql<OrphanedBlob[]>`
    with doomed as materialized (
      select * from unnest(${namespaces}::text[], ${ids}::text[]) with ordinality as _ (checkpoint_ns, checkpoint_id, position)
    ), found as materialized (
      select doomed.position, c.* from doomed, lateral (
        select checkpoint_ns, channels, versions from agent.checkpoints as c
        where ${ofThread} and c.checkpoint_ns = doomed.checkpoint_ns and c.checkpoint_id = doomed.checkpoint_id offset 0) as c
    ), kept as materialized (
      select checkpoint_ns, named.channel, named.version
      from agent.checkpoints, unnest(channels, versions) as named (channel, version)
      where ${ofThread} and ((checkpoint_ns, checkpoint_id) in (select checkpoint_ns, checkpoint_id from doomed)) is not true
    )
    select checkpoint_ns, named.channel, named.version, max(position)::integer as position
    from found, unnest(channels, versions) as named (channel, version)
    where ((checkpoint_ns, named.channel, named.version) in (select * from kept)) is not true
    group by checkpoint_ns, named.channel, named.version`
}

export const findOrphanedBlobs = async (
  db: Pick<Database, 'sql'>,
  removal: Removal,
  doomed: Doomed,
): Promise<OrphanedBlob[]> => await orphanedBlobs(db, removal, doomed)

/** What would go with checkpoints. */
export const countDoomed = async (
  db: Pick<Database, 'sql'>,
  removal: Removal,
  doomed: Doomed,
): Promise<z.infer<typeof CheckpointCounts>> => {
  const { sql } = db
  const ofThread = sql`account_id = ${removal.account_id} and thread_id = ${removal.thread_id}`
  const [counts] = await sql<[{ blobs: number; writes: number }]>`
    select (
      select count(*)::integer from (${orphanedBlobs(db, removal, doomed)}) as named, lateral (
        select from agent.checkpoint_blobs as b where ${ofThread}
          and b.checkpoint_ns = named.checkpoint_ns and b.channel = named.channel and b.version = named.version offset 0) as b
    ) as blobs, (
      select count(*)::integer from unnest(${doomed.namespaces}::text[], ${doomed.ids}::text[]) as named (ns, id), lateral (
        select from agent.checkpoint_writes as w
        where ${ofThread} and w.checkpoint_ns = named.ns and w.checkpoint_id = named.id offset 0) as w
    ) as writes`
  return { checkpoints: doomed.ids.length, ...counts }
}
