import { z } from '@hono/zod-openapi'
import { FreeFormObject } from '../free-form.ts'
import { given, givenOr } from '../given.ts'
import { route } from '../route.ts'
import { textWithin } from '../text.ts'
import { ThreadId } from './checkpoint-fields.ts'
import {
  CheckpointCounts,
  CheckpointThreadList,
  CheckpointTtl,
  PruneResponse,
  ThreadCursor,
} from './checkpoint-threads.ts'

const tag = 'checkpoints'
const extension = true
const MAX_IDS = 1000
/** 68 years: what an `integer` of Postgres holds. */
const MAX_SECONDS = 2_147_483_647

const seconds = z.int().min(1).max(MAX_SECONDS).openapi({ example: 604_800 })

export const PruneCheckpointsRequest = z
  .object({
    thread_ids: given(z.array(ThreadId).min(1).max(MAX_IDS)).openapi({
      description: 'Left out: every thread of the account',
    }),
    keep_last: given(z.int().min(1)).openapi({
      description: 'Keep so many of each namespace, the newest',
      example: 10,
    }),
    max_age_seconds: given(seconds).openapi({ description: 'Keep what is younger' }),
    dry_run: givenOr(z.boolean(), false).openapi({ description: 'Only count' }),
  })
  .refine(({ keep_last, max_age_seconds }) => keep_last !== undefined || max_age_seconds !== undefined, {
    error: 'keep_last or max_age_seconds is needed',
    path: ['keep_last'],
  })
  .openapi('PruneCheckpointsRequest')

export const CopyThreadRequest = z
  .object({ source_thread_id: ThreadId, target_thread_id: ThreadId })
  .refine(({ source_thread_id, target_thread_id }) => source_thread_id !== target_thread_id, {
    error: 'must not be the source',
    path: ['target_thread_id'],
  })
  .openapi('CopyThreadRequest')

export const DeleteByRunRequest = z
  .object({
    run_ids: z
      .array(textWithin(255, 1))
      .min(1)
      .max(MAX_IDS)
      .openapi({ example: ['run-1'] }),
  })
  .openapi('DeleteByRunRequest')

export const ListThreadsRequest = z
  .object({
    filter_metadata: given(FreeFormObject).openapi({
      description: "Only threads whose latest checkpoint's metadata contains this",
      example: { user_id: 'u-1' },
    }),
    limit: givenOr(z.int().min(1).max(1000), 100),
    starting_after: given(ThreadCursor),
  })
  .openapi('ListThreadsRequest')

const ofThread = given(ThreadId).openapi({ description: 'Left out: the default of the account' })

export const GetCheckpointTtlRequest = z.object({ thread_id: ofThread }).openapi('GetCheckpointTtlRequest')

export const SetCheckpointTtlRequest = z
  .object({ thread_id: ofThread, ttl_seconds: seconds.nullable().openapi({ description: '`null`: keep for ever' }) })
  .openapi('SetCheckpointTtlRequest')

export const checkpointRetention = {
  pruneCheckpoints: route('pruneCheckpoints', 'post', '/checkpoints/prune', {
    tag,
    summary: 'Delete old checkpoints',
    description:
      'A checkpoint stays when either rule keeps it. What a kept one needs to rebuild a delta channel is stored as long, but neither listed nor to be built on. Works in small batches; `has_more` says to call again.',
    scope: 'checkpoints:delete',
    body: PruneCheckpointsRequest,
    ok: PruneResponse,
    extension,
  }),
  copyThread: route('copyThread', 'post', '/checkpoints/copy-thread', {
    tag,
    summary: 'Copy a thread with all its checkpoints, blobs and writes',
    scope: 'checkpoints:write',
    body: CopyThreadRequest,
    ok: CheckpointCounts,
    okDescription: 'What was copied',
    errors: ['not_found', 'thread_exists', 'thread_deleted'],
    extension,
  }),
  deleteCheckpointsByRun: route('deleteCheckpointsByRun', 'post', '/checkpoints/delete-by-run', {
    tag,
    summary: 'Delete the checkpoints of runs',
    description:
      'A run is what `run_id` in the metadata of its checkpoints says. What a checkpoint of another run needs to rebuild a delta channel is stored as long, but neither listed nor to be built on. Works in small batches; `has_more` says to call again.',
    scope: 'checkpoints:delete',
    body: DeleteByRunRequest,
    ok: PruneResponse,
    okDescription: 'What was deleted',
    extension,
  }),
  listThreads: route('listThreads', 'post', '/checkpoints/threads', {
    tag,
    summary: 'List threads, the last changed first',
    scope: 'checkpoints:read',
    body: ListThreadsRequest,
    ok: CheckpointThreadList,
    extension,
  }),
  getCheckpointTtl: route('getCheckpointTtl', 'post', '/checkpoints/get-ttl', {
    tag,
    summary: 'Get how long a thread, or any thread of the account, is kept after its last change',
    scope: 'checkpoints:read',
    body: GetCheckpointTtlRequest,
    ok: CheckpointTtl,
    errors: ['not_found'],
    extension,
  }),
  setCheckpointTtl: route('setCheckpointTtl', 'post', '/checkpoints/set-ttl', {
    tag,
    summary: 'Set how long a thread, or any thread of the account, is kept after its last change',
    scope: 'checkpoints:delete',
    body: SetCheckpointTtlRequest,
    ok: CheckpointTtl,
    errors: ['not_found'],
    extension,
  }),
}
