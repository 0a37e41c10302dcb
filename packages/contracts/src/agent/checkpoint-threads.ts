import { z } from '@hono/zod-openapi'
import { FreeFormObject } from '../free-form.ts'
import { nullable } from '../given.ts'
import { Timestamp, UtcTimestamp } from '../timestamp.ts'
import { ThreadId } from './checkpoint-fields.ts'

const count = z.int().min(0).openapi({ example: 12 })

const counts = { checkpoints: count, blobs: count, writes: count }

export const CheckpointCounts = z
  .object(counts)
  .openapi('CheckpointCounts', { description: 'How many rows of each kind' })

export const PruneResponse = z
  .object({
    ...counts,
    has_more: z.boolean().openapi({ description: 'Whether there is more to delete than one request does' }),
  })
  .openapi('PruneResponse', { description: 'What was deleted, or would be' })

export const CheckpointThread = z
  .object({
    thread_id: z.string().openapi({ example: 'thread-7' }),
    checkpoint_id: z
      .string()
      .openapi({ description: 'The latest checkpoint of the root graph, else of any namespace' }),
    metadata: FreeFormObject.openapi({ description: 'Of that checkpoint', example: { user_id: 'u-1' } }),
    checkpoint_count: count,
    write_count: count,
    bytes: z.int().min(0).openapi({ description: 'Of everything stored, before compression', example: 18_432 }),
    created_at: UtcTimestamp,
    updated_at: UtcTimestamp,
    expires_at: nullable(UtcTimestamp).openapi({
      description: 'When the thread is deleted if nothing changes, to a second; `null`: never',
    }),
  })
  .openapi('CheckpointThread')

export const CheckpointThreadList = z
  .object({ threads: z.array(CheckpointThread), has_more: z.boolean() })
  .openapi('CheckpointThreadList')

const ThreadPosition = z.object({ thread_id: ThreadId, updated_at: Timestamp }).openapi({
  description:
    'The last thread of the page before: every thread that stays as it is comes once; one that changes meanwhile moves to the front, and comes once at most',
})

const ThreadNow = ThreadId.openapi({
  description: 'Where this thread stands now: once it has changed, the list begins anew',
})

/** After which thread a page of threads begins. */
export const ThreadCursor = z.union([ThreadPosition, ThreadNow]).openapi({
  description: 'The page begins with the thread after this one',
  example: { thread_id: 'thread-7', updated_at: '2026-11-21T09:30:00.123456Z' },
})

export const CheckpointTtl = z
  .object({
    thread_id: z.string().nullable().openapi({ description: '`null`: the default of the account' }),
    ttl_seconds: z
      .int()
      .nullable()
      .openapi({ description: 'After the last change; `null`: for ever', example: 604_800 }),
  })
  .openapi('CheckpointTtl')

export type CheckpointThread = z.infer<typeof CheckpointThread>
