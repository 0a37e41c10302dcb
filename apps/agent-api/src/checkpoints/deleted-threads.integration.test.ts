import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'
import { sweepCheckpoints } from './sweep-checkpoints.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { db } = app

/** An account whose thread `t` had two checkpoints, and was deleted. */
const deletedThread = async () => {
  const account = await checkpointAccount(app)
  const { client, step } = account
  await step('t', 1)
  await step('t', 2)
  await client.deleteThread({ body: { thread_id: 't' } })
  const rowsOf = async (table: string) => {
    const rows = await db.sql`select from ${db.sql(table)} where account_id = ${client.account_id} and thread_id = 't'`
    return rows.length
  }
  const writeCount = () => rowsOf('agent.checkpoint_writes')
  const blobCount = () => rowsOf('agent.checkpoint_blobs')
  const changedAgo = (seconds: number) => db.sql`
    update agent.threads set deleted_at = now() - make_interval(secs => ${seconds}), updated_at = now() - make_interval(secs => ${seconds})
    where account_id = ${client.account_id}`
  return { ...account, writeCount, blobCount, changedAgo }
}

describe('a run that goes on after its thread was deleted', () => {
  test('does not bring the thread back, whatever parent its puts name', async () => {
    const { put, ids, threads } = await deletedThread()
    for (const [id, parent] of [
      ['cp-3', 'cp-2'],
      ['cp-4', 'cp-3'],
      ['cp-8', 'never-put'],
      ['cp-9', 'cp-8'],
    ] as const)
      expect(await codeOf(put('t', id, { parent_checkpoint_id: parent }))).toBe('thread_deleted')
    expect([await ids('t'), await threads()]).toEqual([[], []])
  })

  test('leaves no writes, early or late, of a checkpoint that was refused', async () => {
    const { put, write, writeCount, threads } = await deletedThread()
    await write('t', 'cp-3')
    expect(await threads()).toEqual([])
    expect(await codeOf(put('t', 'cp-3', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
    expect(await writeCount()).toBe(0)
    expect(await codeOf(write('t', 'cp-3'))).toBe('thread_deleted')
    expect(await writeCount()).toBe(0)
  })

  test('is refused as well when its puts share statements with those of others', async () => {
    const { step, put, write, writeCount, threads } = await deletedThread()
    await write('t', 'cp-3')
    const others = Array.from({ length: 30 }, (_, index) => `other-${index}`)
    const outcomes = await Promise.all([
      ...others.map((thread) => codeOf(step(thread, 1))),
      codeOf(put('t', 'cp-3', { parent_checkpoint_id: 'cp-2' })),
      ...others.map((thread) => codeOf(step(thread, 1, { checkpoint_ns: 'sub' }))),
    ])
    expect(outcomes.filter((code) => code !== 'ok')).toEqual(['thread_deleted'])
    expect([await threads({ limit: 50 }), await writeCount()]).toEqual([expect.not.arrayContaining(['t']), 0])
  })

  test('is refused with an expected head too', async () => {
    const { put, ids } = await deletedThread()
    const late = put('t', 'cp-4', { parent_checkpoint_id: 'cp-3', expected_head_checkpoint_id: '' })
    expect(await codeOf(late)).toBe('thread_deleted')
    expect(await ids('t')).toEqual([])
  })
})

describe('a deleted thread that a new run begins anew', () => {
  test('keeps the writes that came before its first put, and takes every repetition', async () => {
    const { client, put, write } = await deletedThread()
    expect(await codeOf(put('t', 'cp-3', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
    for (const id of ['cp-5', 'cp-6']) {
      const parent = id === 'cp-6' ? { parent_checkpoint_id: 'cp-5' } : {}
      await write('t', id)
      for (let time = 0; time < 2; time += 1) await put('t', id, parent)
      await write('t', id)
      const tuple = await client.getCheckpointTuple({ body: { thread_id: 't' } })
      expect(tuple).toMatchObject({ checkpoint_id: id, pending_writes: [{ blob: base64('w') }] })
    }
  })

  test('loses none of these writes to a late put of the old run', async () => {
    const { put, write, writeCount } = await deletedThread()
    await write('t', 'cp-3')
    expect(await codeOf(put('t', 'cp-4', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
    await put('t', 'cp-3')
    expect(await codeOf(put('t', 'cp-5', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
    expect([await writeCount(), await codeOf(put('t', 'cp-6', { parent_checkpoint_id: 'cp-3' }))]).toEqual([1, 'ok'])
  })

  test('is there or deleted, and nothing between, when puts of both runs race', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { put, write, ids, writeCount } = await deletedThread()
      const [late, anew] = await Promise.all([
        codeOf(put('t', 'cp-3', { parent_checkpoint_id: 'cp-2' })),
        codeOf(put('t', 'cp-7')),
        codeOf(write('t', 'cp-7')),
      ])
      expect([late, anew, await ids('t'), await writeCount()]).toEqual(['thread_deleted', 'ok', ['cp-7'], 1])
    }
  })
})

describe('what a dead client left', () => {
  const leaveRows = async ({ client }: Awaited<ReturnType<typeof deletedThread>>, blobs: number) => {
    const { account_id } = client
    await db.sql`
      insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, blob, task_path)
      select ${account_id}, 't', '', 'cp-3', 't', idx, 'c', '', '' from generate_series(1, 2500) as idx`
    await db.sql`
      insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type)
      select ${account_id}, 't', '', 'c', version, 'empty' from generate_series(1, ${blobs}::integer) as version`
  }

  test('goes with the tombstone, however much it is', async () => {
    const thread = await deletedThread()
    await leaveRows(thread, 1500)
    await thread.changedAgo(100)
    expect(await sweepCheckpoints(db, { tombstoneSeconds: 50 })).toMatchObject({ tombstones: 1 })
    const rows = await db.sql`select from agent.threads where account_id = ${thread.client.account_id}`
    expect([rows.length, await thread.writeCount(), await thread.blobCount()]).toEqual([0, 0, 0])
  })

  test('goes when the thread began anew meanwhile, which keeps what is its own', async () => {
    const thread = await deletedThread()
    await leaveRows(thread, 0)
    await db.sql`update agent.threads set deleted_through = 'cp-4' where account_id = ${thread.client.account_id}`
    await thread.step('t', 1)
    for (const id of ['cp-1', 'cp-5']) await thread.write('t', id)
    await thread.changedAgo(100)
    expect(await sweepCheckpoints(db, { tombstoneSeconds: 50 })).toMatchObject({ tombstones: 1 })
    expect([await thread.ids('t'), await thread.writeCount(), await thread.blobCount()]).toEqual([['cp-1'], 2, 1])
  })

  test('stays while the thread may be about to begin anew', async () => {
    const thread = await deletedThread()
    await thread.changedAgo(100)
    await thread.write('t', 'cp-3')
    expect(await sweepCheckpoints(db, { tombstoneSeconds: 50 })).toMatchObject({ tombstones: 0 })
    await thread.put('t', 'cp-3')
    expect(await thread.writeCount()).toBe(1)
  })

  test('never loses its thread, though writes come while tombstones are dropped', async () => {
    for (let round = 0; round < 10; round += 1) {
      const thread = await deletedThread()
      await thread.changedAgo(100)
      await Promise.all([
        delay(round % 4).then(() => thread.write('t', 'cp-3')),
        sweepCheckpoints(db, { tombstoneSeconds: 50 }),
      ])
      const rows = await db.sql`select from agent.threads where account_id = ${thread.client.account_id}`
      expect([rows.length, await thread.writeCount()]).toEqual([1, 1])
    }
  })
})
