import type { PutCheckpointWritesRequest } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { orRefusal } from './refusals.ts'
import { PUT_KEY, rowSource } from './row-source.ts'

type Put = z.output<typeof PutCheckpointWritesRequest>
type Writes = Put['writes']

/** What tasks wrote to one checkpoint, one write for each key. */
export type WritesRow = Pick<Put, 'thread_id' | 'checkpoint_ns' | 'checkpoint_id' | 'writes'> & { account_id: string }

const WRITE_COLUMNS = {
  put: 'integer',
  task_id: 'text',
  idx: 'integer',
  channel: 'text',
  type: 'text',
  blob: 'text',
  task_path: 'text',
} as const

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

export const writesRow = (account_id: string, put: Put): WritesRow => {
  const { thread_id, checkpoint_ns, checkpoint_id, writes, upsert } = put
  return { account_id, thread_id, checkpoint_ns, checkpoint_id, writes: distinct(writes, upsert) }
}

/**
 * Makes threads known, and moves their last change once a second, so that many tasks may write to one at once: a row that
 * is locked is being moved by somebody else, and nobody waits for it.
 */
const TOUCHED = `stale as materialized (
    select distinct account_id, thread_id from admitted, incoming
    where not exists (
      select from agent.threads as t
      where t.account_id = incoming.account_id and t.thread_id = incoming.thread_id and t.updated_at >= now() - interval '1 second' offset 0)
  ), known as (
    insert into agent.threads (account_id, thread_id)
    select account_id, thread_id from stale order by account_id, thread_id
    on conflict (account_id, thread_id) do nothing
  ), touched as (
    update agent.threads as t set updated_at = now()
    where t.ctid = any (array(
      select free.ctid from stale, lateral (
        select t.ctid from agent.threads as t
        where t.account_id = stale.account_id and t.thread_id = stale.thread_id for no key update skip locked) as free))
  )`

const statementOf = (puts: string, writes: string, upsert: boolean): string => `
  with incoming as materialized (${puts}), admitted as materialized (
    select agent.admit_all(array_agg(account_id), array_agg(thread_id), array_agg(checkpoint_ns), array_agg(checkpoint_id)) from incoming
  ), ${TOUCHED}
  insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
  select account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, decode(blob, 'base64'), task_path
  from admitted, incoming join (${writes}) as writes using (put)
  on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${
    upsert
      ? 'do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob, task_path = excluded.task_path'
      : 'do nothing'
  }`

/**
 * Puts what tasks wrote, to any number of checkpoints, in one statement: all or nothing. A checkpoint may come later.
 *
 * @throws ApiError `thread_deleted` when a checkpoint was deleted
 */
export const putWrites = async (
  { sql }: Pick<Database, 'sql'>,
  rows: readonly WritesRow[],
  upsert: boolean,
): Promise<void> => {
  const isBatch = rows.length > 1
  const heads = rows.map((row, put) => ({ ...row, put, writes: undefined }))
  const parts = rows.flatMap(({ writes }, put) => writes.map((write) => ({ ...write, put })))
  const puts = rowSource(heads, PUT_KEY, 1, isBatch)
  const writes = rowSource(parts, WRITE_COLUMNS, puts.parameters.length + 1, isBatch || undefined)
  const parameters = [...puts.parameters, ...writes.parameters]
  await orRefusal(sql.unsafe(statementOf(puts.text, writes.text, upsert), parameters, { prepare: true }))
}
