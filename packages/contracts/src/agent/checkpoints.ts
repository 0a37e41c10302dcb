import { z } from '@hono/zod-openapi'
import { FreeFormObject, plainValue } from '../free-form.ts'
import { given, givenOr, nullable } from '../given.ts'
import { route } from '../route.ts'
import { textWithin } from '../text.ts'
import { CheckpointListItem, CheckpointPutResponse, CheckpointGetTupleResponse } from './checkpoint.ts'
import {
  CheckpointId,
  CheckpointNs,
  checkpointNs,
  INCLUDES,
  latestOr,
  NewCheckpointBlob,
  NewCheckpointWrite,
  parentOrNone,
  ThreadId,
} from './checkpoint-fields.ts'
import { DeltaHistoryRequest, DeltaHistoryResponse } from './delta-history.ts'

export const CHECKPOINT_LIMIT_BYTES = 33_554_432

const tag = 'checkpoints'
const bodyLimitBytes = CHECKPOINT_LIMIT_BYTES
const MAX_PARTS = 10_000

const hasFewChannels = (checkpoint: unknown): boolean => {
  const versions = (plainValue(checkpoint) as { channel_versions?: unknown } | null | undefined)?.channel_versions
  return typeof versions !== 'object' || versions === null || Object.keys(versions).length <= MAX_PARTS
}

export const GetCheckpointTupleRequest = z
  .object({
    thread_id: ThreadId,
    checkpoint_ns: checkpointNs,
    checkpoint_id: latestOr,
    include: givenOr(z.array(z.enum(['parent_pending_sends'])), []).openapi({
      description: 'What to answer beside the tuple. Extension',
      example: ['parent_pending_sends'],
    }),
  })
  .openapi('GetCheckpointTupleRequest')

export const PutCheckpointRequest = z
  .object({
    thread_id: ThreadId,
    checkpoint_ns: checkpointNs,
    checkpoint_id: CheckpointId,
    parent_checkpoint_id: parentOrNone,
    checkpoint: FreeFormObject.refine(hasFewChannels, {
      error: `must have at most ${MAX_PARTS} channel_versions`,
    }).openapi({
      description: `Kept as sent; at most ${MAX_PARTS} channel_versions`,
      example: { v: 4, channel_versions: {} },
    }),
    metadata: givenOr(FreeFormObject, {}).openapi({
      description: 'Kept as sent',
      example: { source: 'loop', step: 1 },
    }),
    blobs: givenOr(z.array(NewCheckpointBlob).max(MAX_PARTS), []),
    expected_head_checkpoint_id: given(textWithin(255)).openapi({
      description:
        'Put only while this is the latest checkpoint of the namespace and its id sorts before the new one, byte by byte, else 409 `head_moved`; empty: while there is none. Extension',
    }),
  })
  .openapi('PutCheckpointRequest')

export const PutCheckpointWritesRequest = z
  .object({
    thread_id: ThreadId,
    checkpoint_ns: checkpointNs,
    checkpoint_id: CheckpointId.openapi({ description: 'The checkpoint, which may be put later' }),
    writes: z.array(NewCheckpointWrite).max(MAX_PARTS),
    upsert: givenOr(z.boolean(), false).openapi({
      description: 'Whether a repeated write replaces the one that is there',
    }),
  })
  .openapi('PutCheckpointWritesRequest')

export const ListCheckpointsRequest = z
  .object({
    thread_id: given(ThreadId).openapi({ description: 'Left out: every thread of the account. Extension' }),
    checkpoint_ns: given(CheckpointNs).openapi({ description: 'Left out: every namespace; empty: the root graph' }),
    checkpoint_id: given(CheckpointId).openapi({ description: 'Only the checkpoint of this id. Extension' }),
    before_checkpoint_id: given(textWithin(255)).openapi({ description: 'Only checkpoints older than this id' }),
    filter_metadata: given(FreeFormObject).openapi({
      description: 'Only checkpoints whose metadata contains this',
      example: { source: 'loop' },
    }),
    limit: givenOr(z.int().min(1).max(1000), 100),
    include: givenOr(z.array(z.enum(INCLUDES)), []).openapi({ description: 'What to answer beside each. Extension' }),
    starting_after: given(
      z.object({ thread_id: ThreadId, checkpoint_ns: CheckpointNs, checkpoint_id: CheckpointId }),
    ).openapi({
      description: 'The last item of the page before: the page begins with the one after it. Extension',
    }),
  })
  .openapi('ListCheckpointsRequest')

export const DeleteThreadRequest = z.object({ thread_id: ThreadId }).openapi('DeleteThreadRequest')

export const checkpoints = {
  getCheckpointTuple: route('getCheckpointTuple', 'post', '/checkpoints/get-tuple', {
    tag,
    summary: 'Get a checkpoint with its blobs and pending writes',
    scope: 'checkpoints:read',
    body: GetCheckpointTupleRequest,
    ok: nullable(CheckpointGetTupleResponse),
    okDescription: 'The tuple, or `null` when there is none',
    errors: ['tuple_too_large'],
  }),
  putCheckpoint: route('putCheckpoint', 'post', '/checkpoints/put', {
    tag,
    summary: 'Put a checkpoint and the channels that changed',
    description:
      'All or nothing. Repeating it replaces checkpoint and metadata; a blob is written once for each channel and version, and other content for the same version is 409.',
    scope: 'checkpoints:write',
    body: PutCheckpointRequest,
    ok: CheckpointPutResponse,
    errors: ['version_conflict', 'head_moved', 'thread_deleted'],
    bodyLimitBytes,
  }),
  putCheckpointWrites: route('putCheckpointWrites', 'post', '/checkpoints/put-writes', {
    tag,
    summary: 'Put what tasks wrote',
    description: 'May come before the put of its checkpoint.',
    scope: 'checkpoints:write',
    body: PutCheckpointWritesRequest,
    errors: ['thread_deleted'],
    bodyLimitBytes,
  }),
  listCheckpoints: route('listCheckpoints', 'post', '/checkpoints/list', {
    tag,
    summary: 'List checkpoints, newest first',
    description:
      'A page ends early once it holds 32 MiB. To read everything, go on with `starting_after` until a page is empty.',
    scope: 'checkpoints:read',
    body: ListCheckpointsRequest,
    ok: z.array(CheckpointListItem),
    errors: ['tuple_too_large'],
  }),
  deleteThread: route('deleteThread', 'post', '/checkpoints/delete-thread', {
    tag,
    summary: 'Delete everything of a thread',
    description:
      'Also 204 when there is nothing. What arrives late does not bring the thread back: until a put without a parent begins it anew, a put with one is 409 `thread_deleted`.',
    scope: 'checkpoints:delete',
    body: DeleteThreadRequest,
  }),
  getDeltaHistory: route('getDeltaHistory', 'post', '/checkpoints/delta-history', {
    tag,
    summary: 'Get what was written to delta channels since their last snapshot',
    scope: 'checkpoints:read',
    body: DeltaHistoryRequest,
    ok: DeltaHistoryResponse,
    errors: ['tuple_too_large'],
    extension: true,
  }),
}
