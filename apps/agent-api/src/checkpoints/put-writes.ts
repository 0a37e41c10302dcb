import type { PutCheckpointWritesRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { orRefusal } from './refusals.ts'

type Put = z.output<typeof PutCheckpointWritesRequest>
type Writes = Put['writes']

/** Up to so many writes each value is a parameter of its own, the cheapest way for large ones. */
const MAX_PARAMETERS = 24

const keyOf = ({ task_id, idx }: Writes[number]): string => `${task_id}\n${idx}`

/** One write for each key, in the order of keys; the last when writes replace what is there, else the first. */
const distinct = (writes: Writes, upsert: boolean): Writes => {
  const byKey = new Map<string, Writes[number]>()
  for (const write of writes) {
    const key = keyOf(write)
    if (upsert || !byKey.has(key)) byKey.set(key, write)
  }
  return [...byKey.values()].toSorted((a, b) =>
    a.task_id === b.task_id ? a.idx - b.idx : a.task_id < b.task_id ? -1 : 1,
  )
}

const incomingWrites = ({ sql }: Pick<Database, 'sql'>, writes: Writes) => {
  if (writes.length > MAX_PARAMETERS) {
    return sql`
      select * from json_to_recordset(${JSON.stringify(writes)}::text::json)
        as _(task_id text, idx text, channel text, type text, blob text, task_path text)`
  }
  const rows = writes.map(({ task_id, idx, channel, type, blob, task_path }) => [
    task_id,
    String(idx),
    channel,
    type ?? null,
    blob,
    task_path,
  ])
  return sql`values ${sql(rows as string[][])}`
}

/**
 * Puts what tasks wrote in one statement; its checkpoint may come later.
 *
 * @throws ApiError `thread_deleted` when the checkpoint was deleted
 */
export const putWrites = async (db: Pick<Database, 'sql'>, account_id: string, put: Put): Promise<void> => {
  const { sql } = db
  const { thread_id, checkpoint_ns, checkpoint_id, upsert } = put
  const writes = distinct(put.writes, upsert)
  if (writes.length === 0) return
  const onConflict = upsert
    ? sql`do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob`
    : sql`do nothing`
  await orRefusal(sql`
    with admitted as materialized (
      select agent.admit(${account_id}, ${thread_id}, ${checkpoint_ns}, ${checkpoint_id})
    ), known as (
      insert into agent.threads (account_id, thread_id) select ${account_id}, ${thread_id} from admitted
      on conflict (account_id, thread_id) do nothing
    )
    insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
    select ${account_id}, ${thread_id}, ${checkpoint_ns}, ${checkpoint_id}, task_id, idx::integer, channel, type, decode(blob, 'base64'), task_path
    from admitted, (${incomingWrites(db, writes)}) as incoming (task_id, idx, channel, type, blob, task_path)
    on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${onConflict}`)
}
