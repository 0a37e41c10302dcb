import { jsonTextOf, JsonText } from '@keelson/contracts'
import { DeleteByRunRequest, PutCheckpointRequest } from '@keelson/contracts/agent'
import type { z } from 'zod'
import { channelVersions } from './channel-versions.ts'
import { searchable } from './metadata-filter.ts'
import { refusal } from './refusals.ts'

type Put = z.output<typeof PutCheckpointRequest>
type Blobs = Put['blobs']

/** A checkpoint as it is stored, with the blobs that are put with it. */
export type CheckpointRow = {
  account_id: string
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  parent_checkpoint_id: string | null
  /** The checkpoint of the root graph that one without a parent came from, when it begins a subgraph. */
  root_checkpoint_id: string | null
  /** Free-form JSON as the caller's own text. */
  checkpoint: string
  metadata: string
  metadata_filter: string
  channels: string[]
  versions: string[]
  run_id: string | null
  expected_head: string | null
  blobs: Blobs
}

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
    if (known && (known.type !== blob.type || String(known.blob) !== String(blob.blob)))
      throw refusal('version_conflict')
    byKey.set(key, blob)
  }
  return [...byKey.values()].toSorted(inKeyOrder)
}

type Metadata = { run_id?: unknown; parents?: Record<string, unknown> | null }

const valueOf = (metadata: unknown): Metadata => (metadata instanceof JsonText ? metadata.value : metadata) as Metadata

/** The run a checkpoint can be deleted by: what the metadata names, as far as it can be asked for. */
const runIdOf = (metadata: unknown): string | null =>
  DeleteByRunRequest.shape.run_ids.element.safeParse(valueOf(metadata).run_id).data ?? null

/** LangGraph names the checkpoints that a subgraph came from by namespace; that of the root graph is empty. */
const rootOf = (metadata: unknown): string | null =>
  PutCheckpointRequest.shape.checkpoint_id.safeParse(valueOf(metadata).parents?.['']).data ?? null

/** @throws ApiError `version_conflict` when the put names a version twice with different contents */
export const checkpointRow = (account_id: string, put: Put): CheckpointRow => ({
  account_id,
  thread_id: put.thread_id,
  checkpoint_ns: put.checkpoint_ns,
  checkpoint_id: put.checkpoint_id,
  parent_checkpoint_id: put.parent_checkpoint_id ?? null,
  root_checkpoint_id: put.parent_checkpoint_id === undefined ? rootOf(put.metadata) : null,
  checkpoint: jsonTextOf(put.checkpoint),
  metadata: jsonTextOf(put.metadata),
  metadata_filter: searchable(put.metadata),
  ...channelVersions(put.checkpoint),
  run_id: runIdOf(put.metadata),
  expected_head: put.expected_head_checkpoint_id ?? null,
  blobs: distinct(put.blobs),
})
