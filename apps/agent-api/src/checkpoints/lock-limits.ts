import type { Database } from '@keelson/database'

/** So many rows, of blobs and writes together, are deleted under one lock, */
export const MAX_LOCKED_ROWS = 1000

/** and so many bytes of their values, unless one alone has more: 10 to 20 ms for who waits for the thread. */
export const MAX_LOCKED_BYTES = 2 * 1024 * 1024

/** Checkpoints of a thread that weigh no more, each with 1 KiB for its row, are deleted at once: 5 to 60 ms. */
export const MAX_DELETED_AT_ONCE_BYTES = 48 * 1024 * 1024

/**
 * For a statement that deletes what nobody can see any more: its lock ends before the disk has it. What a crash brings back
 * goes with the tombstone.
 */
export const withoutFlush = ({ sql }: Pick<Database, 'sql'>) => sql`set_config('synchronous_commit', 'off', true)`
