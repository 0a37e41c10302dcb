import { type Database, waitingAtMost } from '@keelson/database'
import type { CheckpointRow } from './checkpoint-row.ts'
import { orRefusal } from './refusals.ts'
import { PUT_KEY, rowSource } from './row-source.ts'

const PUT_COLUMNS = {
  ...PUT_KEY,
  parent_checkpoint_id: 'text',
  root_checkpoint_id: 'text',
  checkpoint: 'text',
  metadata: 'text',
  metadata_filter: 'text',
  channels: 'text[]',
  versions: 'text[]',
  run_id: 'text',
  expected_head: 'text',
} as const

const BLOB_COLUMNS = { put: 'integer', channel: 'text', version: 'text', type: 'text', blob: 'text' } as const

const STORED_BLOBS = (blobs: string) => `, stored_blobs as (
    insert into agent.checkpoint_blobs as b (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select account_id, thread_id, checkpoint_ns, channel, version, type, decode(blob, 'base64')
    from admitted, incoming join (${blobs}) as blobs using (put)
    on conflict (account_id, thread_id, checkpoint_ns, channel, version) do update set type = b.type
    where (b.type, b.blob) is distinct from (excluded.type, excluded.blob)
    returning xmax <> 0 as differs
  )`

const ADMIT = `agent.admit_puts(array_agg(account_id), array_agg(thread_id), array_agg(checkpoint_ns),
  array_agg(checkpoint_id), array_agg(parent_checkpoint_id), array_agg(root_checkpoint_id))`

const HELD = `held as materialized (select pg_advisory_xact_lock(hashtext(account_id), hashtext(thread_id)) from incoming)`

/** How a statement comes to put: beside others, or alone with its thread from before it looks until it has put. */
const ADMISSIONS = {
  shared: `admitted as materialized (select ${ADMIT} from incoming)`,
  alone: `${HELD}, admitted as materialized (select ${ADMIT} from held, incoming)`,
  at_head: `${HELD}, alive as materialized (
    select ${ADMIT} from held, incoming
  ), admitted as materialized (
    select agent.admit_at_head(account_id, thread_id, checkpoint_ns, checkpoint_id, expected_head) from alive, incoming
  )`,
}

const statementOf = (puts: string, blobs: string | null, admitted: string): string => `
  with incoming as materialized (${puts}), ${admitted}, changed as (
    insert into agent.threads (account_id, thread_id)
    select distinct account_id, thread_id from admitted, incoming order by account_id, thread_id
    on conflict (account_id, thread_id) do update set updated_at = now()
  ) ${blobs === null ? '' : STORED_BLOBS(blobs)}, stored as (
    insert into agent.checkpoints (
      account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
      checkpoint, metadata, metadata_filter, channels, versions, run_id)
    select account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
      checkpoint, metadata, metadata_filter::jsonb, channels, versions, run_id
    from admitted, incoming
    on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id) do update set
      checkpoint = excluded.checkpoint, metadata = excluded.metadata, metadata_filter = excluded.metadata_filter,
      channels = excluded.channels, versions = excluded.versions, run_id = excluded.run_id
  )
  select ${blobs === null ? '' : `case when exists (select from stored_blobs where differs) then agent.refuse('version_conflict') end`}`

/**
 * Puts checkpoints, each of a thread and namespace of its own, with their blobs in one statement: all or nothing. One that
 * is not `shared` must be alone.
 *
 * @throws ApiError `version_conflict`, `head_moved`, `thread_deleted`
 */
export const runPut = async (
  db: Pick<Database, 'sql'>,
  checkpoints: readonly CheckpointRow[],
  admission: keyof typeof ADMISSIONS,
  lockTimeoutMs?: number,
): Promise<void> => {
  const isBatch = checkpoints.length > 1
  const heads = checkpoints.map((row, put) => ({ ...row, put, blobs: undefined }))
  const parts = checkpoints.flatMap(({ blobs }, put) => blobs.map((blob) => ({ ...blob, put })))
  const puts = rowSource(heads, PUT_COLUMNS, 1, isBatch)
  const blobs =
    parts.length === 0 ? null : rowSource(parts, BLOB_COLUMNS, puts.parameters.length + 1, isBatch || undefined)
  const parameters = [...puts.parameters, ...(blobs?.parameters ?? [])]
  const text = statementOf(puts.text, blobs?.text ?? null, ADMISSIONS[admission])
  await orRefusal(waitingAtMost(db, lockTimeoutMs, ({ sql }) => sql.unsafe(text, parameters, { prepare: true })))
}
