import { jsonTextOf, JsonText } from '@keelson/contracts'
import type { PutCheckpointRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { channelVersions } from './channel-versions.ts'
import { searchable } from './metadata-filter.ts'
import { orRefusal } from './refusals.ts'

type Put = z.output<typeof PutCheckpointRequest>
type Blobs = Put['blobs']

/** Up to so many blobs each value is a parameter of its own, the cheapest way for large ones. */
const MAX_PARAMETERS = 24

/** In the order of their key, so that puts of the same blobs never wait for each other in a circle. */
const inOrder = (blobs: Blobs): Blobs =>
  blobs.toSorted((a, b) => (a.channel < b.channel ? -1 : a.channel > b.channel ? 1 : a.version < b.version ? -1 : 1))

const incomingBlobs = ({ sql }: Pick<Database, 'sql'>, blobs: Blobs) => {
  if (blobs.length > MAX_PARAMETERS) {
    return sql`select * from json_to_recordset(${JSON.stringify(blobs)}::text::json) as _(channel text, version text, type text, blob text)`
  }
  return sql`values ${sql(blobs.map(({ channel, version, type, blob }) => [channel, version, type, blob ?? null]) as string[][])}`
}

const storedBlobs = (db: Pick<Database, 'sql'>, account_id: string, { thread_id, checkpoint_ns, blobs }: Put) => db.sql`
  , stored_blobs as (
    insert into agent.checkpoint_blobs as b (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select ${account_id}, ${thread_id}, ${checkpoint_ns}, channel, version, type, decode(blob, 'base64')
    from admitted, (${incomingBlobs(db, inOrder(blobs))}) as incoming (channel, version, type, blob)
    on conflict (account_id, thread_id, checkpoint_ns, channel, version) do update set type = b.type
    where (b.type, b.blob) is distinct from (excluded.type, excluded.blob)
    returning xmax <> 0 as differs
  )`

const runIdOf = (metadata: unknown): string | null => {
  const { run_id } = (metadata instanceof JsonText ? metadata.value : metadata) as { run_id?: unknown }
  return typeof run_id === 'string' && run_id.isWellFormed() && !run_id.includes('\0') ? run_id : null
}

/**
 * Puts a checkpoint and its blobs in one statement. A repetition replaces checkpoint and metadata, and keeps the parent.
 *
 * @throws ApiError `version_conflict`, `head_moved`, `thread_deleted`
 */
export const putCheckpoint = async (db: Pick<Database, 'sql'>, account_id: string, put: Put): Promise<void> => {
  const { sql } = db
  const {
    thread_id,
    checkpoint_ns,
    checkpoint_id,
    parent_checkpoint_id = null,
    expected_head_checkpoint_id: expected,
    blobs,
  } = put
  const { channels, versions } = channelVersions(put.checkpoint)
  const atHead =
    expected === undefined
      ? sql``
      : sql`, agent.admit_at_head(${account_id}, ${thread_id}, ${checkpoint_ns}, ${checkpoint_id}, ${expected})`
  const conflicts = sql`case when exists (select from stored_blobs where differs) then agent.refuse('version_conflict') end`
  await orRefusal(sql`
    with admitted as materialized (
      select agent.admit(${account_id}, ${thread_id}, ${checkpoint_ns}, ${parent_checkpoint_id}) ${atHead}
    ), changed as (
      insert into agent.threads (account_id, thread_id) select ${account_id}, ${thread_id} from admitted
      on conflict (account_id, thread_id) do update set updated_at = now()
    ) ${blobs.length === 0 ? sql`` : storedBlobs(db, account_id, put)}, stored as (
      insert into agent.checkpoints (
        account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
        checkpoint, metadata, metadata_filter, channels, versions, run_id)
      select ${account_id}, ${thread_id}, ${checkpoint_ns}, ${checkpoint_id}, ${parent_checkpoint_id}, ${jsonTextOf(put.checkpoint)},
        ${jsonTextOf(put.metadata)}, ${searchable(put.metadata)}::text::jsonb, ${channels}::text[], ${versions}::text[], ${runIdOf(put.metadata)}
      from admitted
      on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id) do update set
        checkpoint = excluded.checkpoint, metadata = excluded.metadata, metadata_filter = excluded.metadata_filter,
        channels = excluded.channels, versions = excluded.versions, run_id = excluded.run_id
    )
    select ${blobs.length === 0 ? sql`` : conflicts}`)
}
