import type { JsonBytes } from '@keelson/contracts'
import type { GetCheckpointTupleRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { oneItem, readTuples } from './tuple-rows.ts'
import { PAGE_COLUMNS, tupleStatement } from './tuple-statement.ts'

const statementsFor = (condition: string) => {
  const text = `
    select ${PAGE_COLUMNS}, 0 as item from agent.checkpoints
    where account_id = $1 and thread_id = $2 and checkpoint_ns = $3 ${condition}
    order by checkpoint_id desc limit 1`
  const including = (parent_pending_sends: boolean) =>
    tupleStatement(
      { text, maxBytes: null, maxItemBytes: '$4' },
      { blobs: true, pending_writes: true, parent_pending_sends },
    )
  return { plain: including(false), withSends: including(true) }
}

// Made once: the driver finds a statement again without reading a text that is the same string.
const LATEST = statementsFor('and kept_for is null')
const NAMED = statementsFor('and checkpoint_id = $5')

/**
 * A checkpoint, or the latest, with its blobs and pending writes as JSON; `null` when there is none. By its id also one that is
 * only kept for delta channels: clients that rebuild these themselves go back from parent to parent.
 */
export const getTuple = async (
  db: Pick<Database, 'sql'>,
  account_id: string,
  query: z.output<typeof GetCheckpointTupleRequest>,
  maxTupleBytes: number,
): Promise<JsonBytes> => {
  const { thread_id, checkpoint_ns, checkpoint_id, include } = query
  const statements = checkpoint_id === undefined ? LATEST : NAMED
  const parameters = [account_id, thread_id, checkpoint_ns, maxTupleBytes]
  if (checkpoint_id !== undefined) parameters.push(checkpoint_id)
  return oneItem(await readTuples(db, include.length > 0 ? statements.withSends : statements.plain, parameters))
}
