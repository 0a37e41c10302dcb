import {
  groupCommit,
  isBlocked,
  isTransient,
  Overloaded,
  retryingDeadlocks,
  waitingAtMost,
  type Database,
} from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import type { CheckpointRow } from './checkpoint-row.ts'
import { putCheckpoints } from './put-checkpoint.ts'
import { putOrder } from './put-order.ts'
import { putWrites, type WritesRow } from './put-writes.ts'

/** Writes checkpoints of every account, many small ones to a statement; see `groupCommit`. */
export type CheckpointWriter = {
  put: (row: CheckpointRow) => Promise<void>
  putWrites: (row: WritesRow, upsert: boolean) => Promise<void>
}

const KIBIBYTE = 1024
/** Larger ones gain nothing by company, and go as a statement of their own at once. */
const SMALL_BYTES = 32 * KIBIBYTE
const OVERHEAD_BYTES = KIBIBYTE

const LIMITS = {
  lanes: 3,
  maxItems: 100,
  fewItems: 8,
  besideShare: 2,
  maxBytes: 512 * KIBIBYTE,
  maxQueuedBytes: 32 * KIBIBYTE * KIBIBYTE,
  stallMs: 8000,
}

const bytesOf = (parts: readonly { blob?: { length: number } | undefined }[], texts = 0): number =>
  parts.reduce((sum, { blob }) => sum + OVERHEAD_BYTES + (blob?.length ?? 0), OVERHEAD_BYTES + texts)

/** No id holds U+0000. */
const keyOf = (...ids: string[]): string => ids.join('\0')

const orUnavailable = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error
    throw new ApiError('unavailable', 'Too many checkpoints are waiting to be written', { retryAfterSeconds: 1 })
  }
}

/** Writes small items together, and the others alone; what a statement is refused for is found item by item. */
const writerOf = <Item extends { account_id: string }>(
  write: (items: readonly Item[], lockTimeoutMs?: number) => Promise<void>,
  key: (item: Item) => string,
) => {
  const writeAll = (items: readonly Item[], lockTimeoutMs?: number) =>
    retryingDeadlocks(() => write(items, lockTimeoutMs))
  const group = groupCommit<Item, void>({
    ...LIMITS,
    write: async (items, lockTimeoutMs) => {
      await writeAll(items, lockTimeoutMs)
      return items.map(() => undefined)
    },
    keyOf: key,
    isTransient,
    isBlocked,
  })
  return (item: Item, bytes: number): Promise<void> =>
    bytes > SMALL_BYTES ? writeAll([item]) : orUnavailable(group.submit(item.account_id, item, bytes))
}

/** The checkpoint of a put, and the one it builds on. */
const placesOf = (row: CheckpointRow): [string, string] => {
  const { account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, root_checkpoint_id } = row
  const builtOn = parent_checkpoint_id === null ? ['', root_checkpoint_id ?? ''] : [checkpoint_ns, parent_checkpoint_id]
  return [keyOf(account_id, thread_id, checkpoint_ns, checkpoint_id), keyOf(account_id, thread_id, ...builtOn)]
}

/** One writer serves the whole process, so that requests of all accounts share statements. */
export const checkpointWriter = (db: Pick<Database, 'sql'>): CheckpointWriter => {
  const put = writerOf<CheckpointRow>(
    (rows, lockTimeoutMs) => putCheckpoints(db, rows, lockTimeoutMs),
    ({ account_id, thread_id, checkpoint_ns }) => keyOf(account_id, thread_id, checkpoint_ns),
  )
  const writesOf = (upsert: boolean) =>
    writerOf<WritesRow>(
      (rows, lockTimeoutMs) => waitingAtMost(db, lockTimeoutMs, (statements) => putWrites(statements, rows, upsert)),
      ({ account_id, thread_id, checkpoint_ns, checkpoint_id, writes }) =>
        keyOf(account_id, thread_id, checkpoint_ns, checkpoint_id, writes[0]?.task_id ?? ''),
    )
  const [insert, upsert] = [writesOf(false), writesOf(true)]
  const inOrder = putOrder()
  return {
    put: (row) =>
      inOrder(...placesOf(row), () =>
        row.expected_head === null
          ? put(row, bytesOf(row.blobs, 2 * (row.checkpoint.length + row.metadata.length)))
          : retryingDeadlocks(() => putCheckpoints(db, [row])),
      ),
    putWrites: async (row, isUpsert) => {
      if (row.writes.length > 0) await (isUpsert ? upsert : insert)(row, bytesOf(row.writes))
    },
  }
}
