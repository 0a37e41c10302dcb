import type { JsonBytes } from '@keelson/contracts'
import type { GetCheckpointTupleRequest, ListCheckpointsRequest } from '@keelson/contracts/agent'
import type { DeltaHistoryRequest, PutCheckpointRequest, PutCheckpointWritesRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { checkpointRow } from './checkpoint-row.ts'
import type { CheckpointWriter } from './checkpoint-writer.ts'
import { deleteThread } from './delete-thread.ts'
import { deltaHistory } from './delta-history.ts'
import { listCheckpoints } from './list-checkpoints.ts'
import { writesRow } from './put-writes.ts'
import { MAX_TUPLE_BYTES, oneItem, readTuples } from './tuple-rows.ts'
import { PAGE_COLUMNS } from './tuple-statement.ts'

/** The checkpoints of one account; every verb is one statement. */
export const checkpointStore = (
  db: Pick<Database, 'sql'>,
  writer: CheckpointWriter,
  account_id: string,
  maxTupleBytes: number = MAX_TUPLE_BYTES,
) => ({
  /** A checkpoint, or the latest, with its blobs and pending writes as JSON; `null` when there is none. */
  async getTuple(query: z.output<typeof GetCheckpointTupleRequest>): Promise<JsonBytes> {
    const { thread_id, checkpoint_ns, checkpoint_id, include } = query
    const parameters = [account_id, thread_id, checkpoint_ns, ...(checkpoint_id === undefined ? [] : [checkpoint_id])]
    const text = `
      select ${PAGE_COLUMNS}, 0 as item from agent.checkpoints
      where account_id = $1 and thread_id = $2 and checkpoint_ns = $3 ${checkpoint_id === undefined ? '' : 'and checkpoint_id = $4'}
      order by checkpoint_id desc limit 1`
    const parts = { blobs: true, pending_writes: true, parent_pending_sends: include.length > 0 }
    return oneItem(await readTuples(db, { text, parameters, maxBytes: null }, parts, maxTupleBytes))
  },

  put: (put: z.output<typeof PutCheckpointRequest>) => writer.put(checkpointRow(account_id, put)),
  putWrites: (put: z.output<typeof PutCheckpointWritesRequest>) =>
    writer.putWrites(writesRow(account_id, put), put.upsert),
  list: (query: z.output<typeof ListCheckpointsRequest>) => listCheckpoints(db, account_id, query, maxTupleBytes),
  deleteThread: (thread_id: string) => deleteThread(db, account_id, thread_id),
  deltaHistory: (query: z.output<typeof DeltaHistoryRequest>) => deltaHistory(db, account_id, query, maxTupleBytes),
})
