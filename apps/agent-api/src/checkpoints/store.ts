import type { GetCheckpointTupleRequest, ListCheckpointsRequest } from '@keelson/contracts/agent'
import type { DeltaHistoryRequest, PutCheckpointRequest, PutCheckpointWritesRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { checkpointRow } from './checkpoint-row.ts'
import type { CheckpointWriter } from './checkpoint-writer.ts'
import { deleteThread } from './delete-thread.ts'
import { deltaHistory } from './delta-history.ts'
import { getTuple } from './get-tuple.ts'
import { listCheckpoints } from './list-checkpoints.ts'
import { writesRow } from './put-writes.ts'
import { MAX_TUPLE_BYTES } from './tuple-rows.ts'

/** The checkpoints of one account; every verb is one statement. */
export const checkpointStore = (
  db: Pick<Database, 'sql'>,
  writer: CheckpointWriter,
  account_id: string,
  maxTupleBytes: number = MAX_TUPLE_BYTES,
) => ({
  getTuple: (query: z.output<typeof GetCheckpointTupleRequest>) => getTuple(db, account_id, query, maxTupleBytes),
  put: (put: z.output<typeof PutCheckpointRequest>) => writer.put(checkpointRow(account_id, put)),
  putWrites: (put: z.output<typeof PutCheckpointWritesRequest>) =>
    writer.putWrites(writesRow(account_id, put), put.upsert),
  list: (query: z.output<typeof ListCheckpointsRequest>) => listCheckpoints(db, account_id, query, maxTupleBytes),
  deleteThread: (thread_id: string) => deleteThread(db, account_id, thread_id),
  deltaHistory: (query: z.output<typeof DeltaHistoryRequest>) => deltaHistory(db, account_id, query, maxTupleBytes),
})
