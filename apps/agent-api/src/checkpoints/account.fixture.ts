import { ProblemError } from '@keelson/contracts/client'
import type { testApp } from '../test-app.fixture.ts'

type App = Awaited<ReturnType<typeof testApp>>
type Put = Parameters<Awaited<ReturnType<App['client']>>['putCheckpoint']>[0]['body']

export const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Everything that is iterated, at once. */
export const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

/** The code of the problem a call fails with, or `ok`. */
export const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call
    return 'ok'
  } catch (error) {
    if (error instanceof ProblemError) return error.problem.code
    throw error
  }
}

/** An account with a few verbs. */
export const checkpointAccount = async (app: App) => {
  const client = await app.client()
  const put = (thread_id: string, checkpoint_id: string, more: Partial<Put> = {}) =>
    client.putCheckpoint({ body: { thread_id, checkpoint_id, checkpoint: {}, ...more } })
  /** A put whose only channel holds a value of its own, or the one of `version`. */
  const step = (thread_id: string, number: number, more: Partial<Put> = {}) => {
    const id = `cp-${number}`
    const blobs = [{ channel: 'c', version: id, type: 'json', blob: base64(id) }]
    const parent = number > 1 ? { parent_checkpoint_id: `cp-${number - 1}` } : {}
    return put(thread_id, id, { checkpoint: { channel_versions: { c: id } }, blobs, ...parent, ...more })
  }
  const write = (thread_id: string, checkpoint_id: string, channel = 'c') =>
    client.putCheckpointWrites({
      body: { thread_id, checkpoint_id, writes: [{ task_id: 't', idx: 0, channel, type: 'json', blob: base64('w') }] },
    })
  const ids = async (thread_id: string) =>
    (await client.listCheckpoints({ body: { thread_id } })).map(({ checkpoint_id }) => checkpoint_id)
  /** What is there, listed or not. */
  const storedIds = async (thread_id: string): Promise<string[]> => {
    const rows = await app.db.sql`
      select checkpoint_id from agent.checkpoints where account_id = ${client.account_id} and thread_id = ${thread_id}
      order by checkpoint_id desc`
    return rows.map((row) => row['checkpoint_id'])
  }
  const threads = async (body: object = {}) =>
    (await client.listThreads({ body })).threads.map(({ thread_id }) => thread_id)
  return { client, put, step, write, ids, storedIds, threads }
}
