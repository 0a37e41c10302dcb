import { groupCommit, isTransient, Overloaded, retryingDeadlocks } from '@keelson/database'
import { ApiError } from '@keelson/service-kit'

type Inserts<Row, Made> = {
  /** What is made, for people. */
  what: string
  /** Inserts rows in one statement. @returns what became of each */
  insert: (rows: readonly Row[]) => Promise<Made[]>
  /** Rows of one place never share a statement. */
  placeOf: (row: Row) => string
}

/**
 * Inserts rows of every account. Those that come while the database is busy share a statement and its commit.
 *
 * @throws ApiError `unavailable` where too many wait
 */
export const sharedInserts = <Row, Made>({ what, insert, placeOf }: Inserts<Row, Made>) => {
  const queue = groupCommit<Row, Made>({
    write: (rows) => retryingDeadlocks(() => insert(rows)),
    keyOf: placeOf,
    isTransient,
    lanes: 3,
    // Statements side by side take the cores from each other: another one begins for many, or beside one that takes long.
    besideShare: 4,
    maxItems: 64,
    maxBytes: 1_048_576,
    maxQueuedBytes: 33_554_432,
    stallMs: 5_000,
  })
  const overloaded = (error: unknown): never => {
    if (!(error instanceof Overloaded)) throw error
    throw new ApiError('unavailable', `Too many ${what} are being made`, { retryAfterSeconds: 1, cause: error })
  }
  return (account_id: string, row: Row, bytes: number): Promise<Made> =>
    queue.submit(account_id, row, bytes).catch(overloaded)
}
