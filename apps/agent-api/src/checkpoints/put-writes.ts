import type { PutCheckpointWritesRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { incomingRows } from './incoming-rows.ts'
import { orRefusal } from './refusals.ts'

type Put = z.output<typeof PutCheckpointWritesRequest>
type Writes = Put['writes']

const COLUMNS = ['task_id', 'idx', 'channel', 'type', 'blob', 'task_path'] as const
const FIRST_WRITE = 5

const keyOf = ({ task_id, idx }: Writes[number]): string => `${task_id}\n${idx}`

const inKeyOrder = (a: Writes[number], b: Writes[number]): number => {
  if (a.task_id !== b.task_id) return a.task_id < b.task_id ? -1 : 1
  return a.idx - b.idx
}

/** One write for each key, in the order of keys; the last when writes replace what is there, else the first. */
const distinct = (writes: Writes, upsert: boolean): Writes => {
  const byKey = new Map<string, Writes[number]>()
  for (const write of writes) {
    const key = keyOf(write)
    if (upsert || !byKey.has(key)) byKey.set(key, write)
  }
  return [...byKey.values()].toSorted(inKeyOrder)
}

const statementOf = (incoming: string, upsert: boolean): string => `
  with admitted as materialized (
    select agent.admit($1, $2, $3, $4)
  ), known as (
    insert into agent.threads (account_id, thread_id) select $1, $2 from admitted
    on conflict (account_id, thread_id) do nothing
  )
  insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
  select $1, $2, $3, $4, task_id, idx::integer, channel, type, decode(blob, 'base64'), task_path
  from admitted, (${incoming}) as incoming (${COLUMNS.join(', ')})
  on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${
    upsert ? 'do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob' : 'do nothing'
  }`

/**
 * Puts what tasks wrote in one statement; its checkpoint may come later.
 *
 * @throws ApiError `thread_deleted` when the checkpoint was deleted
 */
export const putWrites = async ({ sql }: Pick<Database, 'sql'>, account_id: string, put: Put): Promise<void> => {
  const { thread_id, checkpoint_ns, checkpoint_id, upsert } = put
  const { text, parameters } = incomingRows(distinct(put.writes, upsert), COLUMNS, FIRST_WRITE)
  if (text === null) return
  const all = [account_id, thread_id, checkpoint_ns, checkpoint_id, ...parameters]
  await orRefusal(sql.unsafe(statementOf(text, upsert), all, { prepare: true }))
}
