import type {
  CheckpointGetTupleResponse,
  GetCheckpointTupleRequest,
  ListCheckpointsRequest,
} from '@keelson/contracts/agent'
import type { DeltaHistoryRequest, PutCheckpointRequest, PutCheckpointWritesRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { deleteThread } from './delete-thread.ts'
import { deltaHistory } from './delta-history.ts'
import { listCheckpoints } from './list-checkpoints.ts'
import { putCheckpoint } from './put-checkpoint.ts'
import { putWrites } from './put-writes.ts'
import { PAGE_COLUMNS, readTuples } from './tuple-rows.ts'

/** The checkpoints of one account; every verb is one statement. */
export const checkpointStore = (db: Pick<Database, 'sql'>, account_id: string) => ({
  /** A checkpoint, or the latest, with its blobs and pending writes; `null` when there is none. */
  async getTuple(query: z.output<typeof GetCheckpointTupleRequest>): Promise<CheckpointGetTupleResponse | null> {
    const { sql } = db
    const { thread_id, checkpoint_ns, checkpoint_id, include } = query
    const atCheckpoint = checkpoint_id === undefined ? sql`` : sql`and checkpoint_id = ${checkpoint_id}`
    const page = sql`
      select ${sql(PAGE_COLUMNS)}, 0 as item from agent.checkpoints
      where account_id = ${account_id} and thread_id = ${thread_id} and checkpoint_ns = ${checkpoint_ns} ${atCheckpoint}
      order by checkpoint_id desc limit 1`
    const parts = { blobs: true, pending_writes: true, parent_pending_sends: include.length > 0 }
    const [tuple] = await readTuples(db, account_id, page, parts)
    return (tuple as CheckpointGetTupleResponse | undefined) ?? null
  },

  put: (put: z.output<typeof PutCheckpointRequest>) => putCheckpoint(db, account_id, put),
  putWrites: (put: z.output<typeof PutCheckpointWritesRequest>) => putWrites(db, account_id, put),
  list: (query: z.output<typeof ListCheckpointsRequest>) => listCheckpoints(db, account_id, query),
  deleteThread: (thread_id: string) => deleteThread(db, account_id, thread_id),
  deltaHistory: (query: z.output<typeof DeltaHistoryRequest>) => deltaHistory(db, account_id, query),
})
