import { z } from '@hono/zod-openapi'
import { nullable } from '../given.ts'
import { CheckpointBlob, CheckpointWrite, keys } from './checkpoint.ts'
import { Channel, checkpointNs, latestOr, ThreadId } from './checkpoint-fields.ts'

export const DeltaHistoryRequest = z
  .object({
    thread_id: ThreadId,
    checkpoint_ns: checkpointNs,
    checkpoint_id: latestOr,
    channels: z
      .array(Channel)
      .min(1)
      .max(1000)
      .openapi({ example: ['messages'] }),
  })
  .openapi('DeltaHistoryRequest')

const ofCheckpoint = { checkpoint_id: keys.checkpoint_id }

export const DeltaWrite = CheckpointWrite.extend(ofCheckpoint).openapi('DeltaWrite')
export const DeltaSeed = CheckpointBlob.extend(ofCheckpoint).openapi('DeltaSeed')

export const DeltaChannelHistory = z
  .object({
    channel: z.string().openapi({ example: 'messages' }),
    writes: z.array(DeltaWrite).openapi({
      description:
        'Oldest checkpoint first, then by task_path, task_id and idx; without those of the checkpoint itself',
    }),
    seed: nullable(DeltaSeed).openapi({
      description: 'The nearest ancestor that holds a value, to which the writes apply; `null` for none',
    }),
  })
  .openapi('DeltaChannelHistory')

export const DeltaHistoryResponse = z
  .object({ channels: z.array(DeltaChannelHistory).openapi({ description: 'In the order they were asked for' }) })
  .openapi('DeltaHistoryResponse')

export type DeltaHistoryResponse = z.infer<typeof DeltaHistoryResponse>
