import { z } from '@hono/zod-openapi'
import { FreeFormObject } from '../free-form.ts'

const EXAMPLE_CHECKPOINT = {
  v: 4,
  id: '1f0c6a51-9b1a-6d5e-8001-7c3f2e9d4b10',
  channel_versions: { messages: '00000000000000000000000000000002.0.52' },
}

export const keys = {
  thread_id: z.string().openapi({ example: 'thread-7' }),
  checkpoint_ns: z.string().openapi({ example: '' }),
  checkpoint_id: z.string().openapi({ example: EXAMPLE_CHECKPOINT.id }),
}

const blob = z.string().openapi({ format: 'byte', example: 'eyJjb3VudCI6MX0=' })

export const CheckpointBlob = z
  .object({
    channel: z.string().openapi({ example: 'messages' }),
    version: z.string().openapi({ example: '00000000000000000000000000000002.0.52' }),
    type: z.string().openapi({ example: 'json' }),
    blob: blob.nullable(),
  })
  .openapi('CheckpointBlob')

export const CheckpointWrite = z
  .object({
    task_id: z.string().openapi({ example: 'e9a1f0d2-1c5b-5d0c-9d53-0f6f3b6a7c11' }),
    idx: z.int().openapi({ example: 0 }),
    channel: z.string().openapi({ example: 'messages' }),
    type: z.string().nullable().openapi({ example: 'json' }),
    blob,
  })
  .openapi('CheckpointWrite')

const facts = {
  ...keys,
  parent_checkpoint_id: z.string().nullable(),
  checkpoint: FreeFormObject.openapi({ description: 'Kept as sent', example: EXAMPLE_CHECKPOINT }),
  metadata: FreeFormObject.openapi({ description: 'Kept as sent', example: { source: 'loop', step: 1 } }),
}

const writesInOrder = z.array(CheckpointWrite).openapi({ description: 'By task_path, task_id, then idx' })
const parentSends = z.array(CheckpointWrite).optional().openapi({
  description: "The parent's writes to `__pregel_tasks`, in the same order; there when asked for. Extension",
})

export const CheckpointGetTupleResponse = z
  .object({
    ...facts,
    blobs: z.array(CheckpointBlob).openapi({ description: "The values that the checkpoint's channel_versions name" }),
    pending_writes: writesInOrder,
    parent_pending_sends: parentSends,
  })
  .openapi('CheckpointGetTupleResponse', {
    description: 'A checkpoint, the values of its channels and what its tasks wrote',
  })

export const CheckpointListItem = z
  .object({
    ...facts,
    blobs: CheckpointGetTupleResponse.shape.blobs.optional(),
    pending_writes: writesInOrder.optional(),
    parent_pending_sends: parentSends,
  })
  .openapi('CheckpointListItem', { description: 'A checkpoint; the rest is there when asked for' })

export const CheckpointPutResponse = z.object(keys).openapi('CheckpointPutResponse')

export type CheckpointGetTupleResponse = z.infer<typeof CheckpointGetTupleResponse>
export type CheckpointListItem = z.infer<typeof CheckpointListItem>
