import type { ErrorCode } from '@keelson/contracts'
import type { Database } from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import type { CheckpointRow } from './checkpoint-row.ts'
import { runPut } from './put-statement.ts'

type Sql = Pick<Database, 'sql'>

/** Waits for a put; when it is refused with `code`, `otherwise` is done instead. */
const ifRefused = async (
  code: ErrorCode,
  put: Promise<void>,
  otherwise: (refusal: ApiError) => Promise<void>,
): Promise<void> => {
  try {
    await put
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== code) throw error
    await otherwise(error)
  }
}

/** What a put is late for its writes are late for too; of several puts it is not known which one that is. */
const refuseWrites = async (
  { sql }: Sql,
  { account_id, thread_id, checkpoint_ns, checkpoint_id }: CheckpointRow,
): Promise<void> => {
  await sql`select agent.refuse_writes(${account_id}, ${thread_id}, ${checkpoint_ns}, ${checkpoint_id})`
}

/** Whether blobs that a put conflicts with may have been left by a deletion; then they are gone. */
const removeUnnamedBlobs = async (
  { sql }: Sql,
  { account_id, thread_id, checkpoint_ns, blobs }: CheckpointRow,
): Promise<boolean> => {
  const [{ removed }] = await sql<[{ removed: boolean }]>`
    select agent.remove_unnamed_blobs(${account_id}, ${thread_id}, ${checkpoint_ns},
      ${blobs.map(({ channel }) => channel)}::text[], ${blobs.map(({ version }) => version)}::text[]) as removed`
  return removed
}

/** What this builds on may be about to be committed; whoever has the thread alone has waited for that. */
const putChild = async (db: Sql, row: CheckpointRow, lockTimeoutMs?: number): Promise<void> => {
  const late = async (refusal: ApiError) => {
    await refuseWrites(db, row)
    throw refusal
  }
  if (row.expected_head !== null) return ifRefused('thread_deleted', runPut(db, [row], 'at_head'), late)
  await ifRefused('thread_deleted', runPut(db, [row], 'shared', lockTimeoutMs), () =>
    ifRefused('thread_deleted', runPut(db, [row], 'alone', lockTimeoutMs), late),
  )
}

const putAlone = (db: Sql, row: CheckpointRow, lockTimeoutMs?: number): Promise<void> =>
  ifRefused('version_conflict', putChild(db, row, lockTimeoutMs), async (refusal) => {
    if (!(await removeUnnamedBlobs(db, row))) throw refusal
    await putChild(db, row, lockTimeoutMs)
  })

/**
 * Puts checkpoints, each of a thread and namespace of its own, with their blobs: all or nothing. A repetition replaces
 * checkpoint and metadata, and keeps the parent. One that expects a head must be alone.
 *
 * @param lockTimeoutMs see `waitingAtMost`
 * @throws ApiError `version_conflict`, `head_moved`, `thread_deleted`
 */
export const putCheckpoints = (
  db: Sql,
  checkpoints: readonly CheckpointRow[],
  lockTimeoutMs?: number,
): Promise<void> => {
  const [first] = checkpoints
  return first && checkpoints.length === 1
    ? putAlone(db, first, lockTimeoutMs)
    : runPut(db, checkpoints, 'shared', lockTimeoutMs)
}
