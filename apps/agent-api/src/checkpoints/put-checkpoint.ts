import { jsonTextOf, JsonText } from '@keelson/contracts'
import { DeleteByRunRequest, type PutCheckpointRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { channelVersions } from './channel-versions.ts'
import { incomingRows } from './incoming-rows.ts'
import { searchable } from './metadata-filter.ts'
import { orRefusal, refusal } from './refusals.ts'

type Put = z.output<typeof PutCheckpointRequest>
type Blobs = Put['blobs']

const BLOB_COLUMNS = ['channel', 'version', 'type', 'blob'] as const
const FIRST_BLOB = 13

const inKeyOrder = (a: Blobs[number], b: Blobs[number]): number => {
  if (a.channel !== b.channel) return a.channel < b.channel ? -1 : 1
  return a.version < b.version ? -1 : 1
}

/**
 * One blob for each key, in the order of keys, so that puts of the same blobs never wait for each other in a circle.
 *
 * @throws ApiError `version_conflict` for a key with different contents
 */
const distinct = (blobs: Blobs): Blobs => {
  const byKey = new Map<string, Blobs[number]>()
  for (const blob of blobs) {
    const key = `${blob.channel}\0${blob.version}`
    const known = byKey.get(key)
    if (known && (known.type !== blob.type || known.blob !== blob.blob)) throw refusal('version_conflict')
    byKey.set(key, blob)
  }
  return [...byKey.values()].toSorted(inKeyOrder)
}

const STORED_BLOBS = (incoming: string) => `, stored_blobs as (
    insert into agent.checkpoint_blobs as b (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select $1, $2, $3, channel, version, type, decode(blob, 'base64')
    from admitted, (${incoming}) as incoming (channel, version, type, blob)
    on conflict (account_id, thread_id, checkpoint_ns, channel, version) do update set type = b.type
    where (b.type, b.blob) is distinct from (excluded.type, excluded.blob)
    returning xmax <> 0 as differs
  )`

const statementOf = (incoming: string | null): string => `
  with admitted as materialized (
    select agent.admit($1, $2, $3, $5), case when $12::text is not null then agent.admit_at_head($1, $2, $3, $4, $12) end
  ), changed as (
    insert into agent.threads (account_id, thread_id) select $1, $2 from admitted
    on conflict (account_id, thread_id) do update set updated_at = now()
  ) ${incoming === null ? '' : STORED_BLOBS(incoming)}, stored as (
    insert into agent.checkpoints (
      account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
      checkpoint, metadata, metadata_filter, channels, versions, run_id)
    select $1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9::text[], $10::text[], $11 from admitted
    on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id) do update set
      checkpoint = excluded.checkpoint, metadata = excluded.metadata, metadata_filter = excluded.metadata_filter,
      channels = excluded.channels, versions = excluded.versions, run_id = excluded.run_id
  )
  select ${incoming === null ? '' : `case when exists (select from stored_blobs where differs) then agent.refuse('version_conflict') end`}`

/** The run a checkpoint can be deleted by: what the metadata names, as far as it can be asked for. */
const runIdOf = (metadata: unknown): string | null => {
  const { run_id } = (metadata instanceof JsonText ? metadata.value : metadata) as { run_id?: unknown }
  return DeleteByRunRequest.shape.run_ids.element.safeParse(run_id).data ?? null
}

/**
 * Puts a checkpoint and its blobs in one statement. A repetition replaces checkpoint and metadata, and keeps the parent.
 *
 * @throws ApiError `version_conflict`, `head_moved`, `thread_deleted`
 */
export const putCheckpoint = async ({ sql }: Pick<Database, 'sql'>, account_id: string, put: Put): Promise<void> => {
  const { channels, versions } = channelVersions(put.checkpoint)
  const incoming = incomingRows(distinct(put.blobs), BLOB_COLUMNS, FIRST_BLOB)
  const parameters = [
    account_id,
    put.thread_id,
    put.checkpoint_ns,
    put.checkpoint_id,
    put.parent_checkpoint_id ?? null,
    jsonTextOf(put.checkpoint),
    jsonTextOf(put.metadata),
    searchable(put.metadata),
    channels,
    versions,
    runIdOf(put.metadata),
    put.expected_head_checkpoint_id ?? null,
    ...incoming.parameters,
  ]
  await orRefusal(sql.unsafe(statementOf(incoming.text), parameters, { prepare: true }))
}
