import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount, codeOf } from './account.fixture.ts'
import { sweepCheckpoints } from './sweep-checkpoints.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { db } = app
const account = () => checkpointAccount(app)

const changedAgo = (account_id: string, thread_id: string, seconds: number) => db.sql`
  update agent.threads set updated_at = now() - make_interval(secs => ${seconds})
  where account_id = ${account_id} and thread_id = ${thread_id}`

describe('copy-thread', () => {
  test('copies everything, leaves the source, and refuses an existing target or a missing source', async () => {
    const { client, step, write } = await account()
    await step('from', 1, { metadata: { a: 1.5 } })
    await step('from', 1, { checkpoint_ns: 'sub' })
    await write('from', 'cp-1')
    const copy = (source_thread_id: string, target_thread_id: string) =>
      client.copyThread({ body: { source_thread_id, target_thread_id } })
    expect(await copy('from', 'to')).toEqual({ checkpoints: 2, blobs: 2, writes: 1 })
    const of = async (thread_id: string) => ({
      ...(await client.getCheckpointTuple({ body: { thread_id } })),
      thread_id: '',
    })
    expect(await of('to')).toEqual(await of('from'))
    expect(await codeOf(copy('from', 'to'))).toBe('thread_exists')
    expect(await codeOf(copy('missing', 'other'))).toBe('not_found')
    await client.deleteThread({ body: { thread_id: 'to' } })
    expect(await copy('from', 'to')).toEqual({ checkpoints: 2, blobs: 2, writes: 1 })
    expect(await of('to')).toEqual(await of('from'))
  })

  test('to and fro at once never waits in a circle', async () => {
    const { client, step } = await account()
    await step('one', 1)
    await step('two', 1)
    const copy = (source_thread_id: string, target_thread_id: string) =>
      codeOf(client.copyThread({ body: { source_thread_id, target_thread_id } }))
    const rounds = Array.from({ length: 40 }, () => [copy('one', 'two'), copy('two', 'one')])
    expect(new Set(await Promise.all(rounds.flat()))).toEqual(new Set(['thread_exists']))
  })
})

test('delete-by-run deletes the checkpoints of runs in every thread, and nothing else', async () => {
  const { client, step, ids } = await account()
  for (const thread of ['a', 'b']) {
    await step(thread, 1, { metadata: { run_id: 'run-1' } })
    await step(thread, 2, { metadata: { run_id: 'run-2' } })
    await step(thread, 3)
  }
  // No run: an index could not hold it either.
  await step('a', 4, { metadata: { run_id: randomBytes(20_000).toString('hex') } })
  const other = await account()
  await other.step('a', 1, { metadata: { run_id: 'run-2' } })
  expect(await client.deleteCheckpointsByRun({ body: { run_ids: ['run-2', 'unknown'] } })).toEqual({
    checkpoints: 2,
    blobs: 2,
    writes: 0,
    has_more: false,
  })
  expect([await ids('a'), await ids('b'), await other.ids('a')]).toEqual([
    ['cp-4', 'cp-3', 'cp-1'],
    ['cp-3', 'cp-1'],
    ['cp-1'],
  ])
})

describe('threads', () => {
  test('are listed by their last change, with counts, bytes and the metadata of the latest checkpoint', async () => {
    const { client, step, write, threads } = await account()
    await step('one', 1, { metadata: { user_id: 'u-1' } })
    await step('two', 1, { metadata: { user_id: 'u-2' } })
    await step('two', 2, { metadata: { user_id: 'u-1' } })
    await write('two', 'cp-2')
    await step('three', 1, { checkpoint_ns: 'sub' })
    await step('one', 2, { metadata: { user_id: 'u-2' } })
    expect(await threads()).toEqual(['one', 'three', 'two'])
    expect(await threads({ filter_metadata: { user_id: 'u-1' } })).toEqual(['two'])
    expect(await threads({ limit: 2 })).toEqual(['one', 'three'])
    const { threads: rest, has_more } = await client.listThreads({ body: { starting_after: 'three', limit: 1 } })
    expect(has_more).toBe(false)
    const bytes = 2 * ('{"channel_versions":{"c":"cp-1"}}'.length + '{"user_id":"u-1"}'.length + 'cp-1'.length) + 1
    expect(rest).toMatchObject([
      {
        thread_id: 'two',
        checkpoint_id: 'cp-2',
        metadata: { user_id: 'u-1' },
        checkpoint_count: 2,
        write_count: 1,
        bytes,
        expires_at: null,
      },
    ])
    await client.deleteThread({ body: { thread_id: 'three' } })
    expect(await threads()).toEqual(['one', 'two'])
  })

  test('after the last there are none, and after one that is not of the account is refused', async () => {
    const { step, threads } = await account()
    await step('mine', 1)
    await (await account()).step('foreign', 1)
    expect(await threads({ starting_after: 'mine' })).toEqual([])
    for (const starting_after of ['foreign', 'missing'])
      expect(await codeOf(threads({ starting_after }))).toBe('invalid_request')
  })
})

describe('a time to live', () => {
  test('is the own one of a thread, else that of the account, else for ever', async () => {
    const { client, step } = await account()
    await step('t', 1)
    await step('kept', 1)
    const ttl = async (thread_id?: string) => (await client.getCheckpointTtl({ body: { thread_id } })).ttl_seconds
    const set = (ttl_seconds: number | null, thread_id?: string) =>
      client.setCheckpointTtl({ body: { thread_id, ttl_seconds } })
    expect([await ttl(), await ttl('t')]).toEqual([null, null])
    await set(100)
    expect([await ttl(), await ttl('t')]).toEqual([100, 100])
    await set(50, 't')
    await set(null, 'kept')
    expect([await ttl(), await ttl('t'), await ttl('kept')]).toEqual([100, 50, null])
    await set(null)
    expect([await ttl(), await ttl('t')]).toEqual([null, 50])
    expect(await codeOf(set(1, 'missing'))).toBe('not_found')
    expect(await codeOf(ttl('missing'))).toBe('not_found')
  })

  test('ends a thread that nobody changed for so long; what changed, or is kept, stays', async () => {
    const { client, step, write, threads } = await account()
    for (const thread of ['own', 'by-account', 'young', 'for-ever']) await step(thread, 1)
    await write('own', 'cp-1')
    await client.setCheckpointTtl({ body: { ttl_seconds: 100 } })
    await client.setCheckpointTtl({ body: { thread_id: 'own', ttl_seconds: 10 } })
    await client.setCheckpointTtl({ body: { thread_id: 'for-ever', ttl_seconds: null } })
    await changedAgo(client.account_id, 'own', 20)
    await changedAgo(client.account_id, 'by-account', 200)
    await changedAgo(client.account_id, 'young', 20)
    await changedAgo(client.account_id, 'for-ever', 2000)
    expect(await sweepCheckpoints(db)).toEqual({ threads: 2, tombstones: 0 })
    expect((await threads()).toSorted()).toEqual(['for-ever', 'young'])
    expect(await sweepCheckpoints(db)).toEqual({ threads: 0, tombstones: 0 })
    expect(await codeOf(write('own', 'cp-1'))).toBe('thread_deleted')
  })

  test('begins anew with what tasks write, which never waits for who holds the thread', async () => {
    const { client, step, write, threads } = await account()
    await step('t', 1)
    await client.setCheckpointTtl({ body: { ttl_seconds: 10 } })
    await changedAgo(client.account_id, 't', 20)
    await write('t', 'cp-1', 'first')
    expect(await sweepCheckpoints(db)).toMatchObject({ threads: 0 })
    expect(await threads()).toEqual(['t'])
    await changedAgo(client.account_id, 't', 5)
    const isAnswered = await db.sql.begin(async (held) => {
      await held`select from agent.threads where account_id = ${client.account_id} for update`
      await write('t', 'cp-1', 'second')
      return true
    })
    expect(isAnswered).toBe(true)
  })

  test('is right to a second: many writes change the thread once, so that it ends a second later', async () => {
    const { client, step, write, threads } = await account()
    const updatedAt = async () => (await client.listThreads({ body: {} })).threads[0]?.updated_at
    await client.setCheckpointTtl({ body: { ttl_seconds: 10 } })
    await step('t', 1)
    const before = await updatedAt()
    await write('t', 'cp-1')
    expect(await updatedAt()).toBe(before)
    await changedAgo(client.account_id, 't', 10)
    await sweepCheckpoints(db)
    expect(await threads()).toEqual(['t'])
    await changedAgo(client.account_id, 't', 11)
    await sweepCheckpoints(db)
    expect(await threads()).toEqual([])
  })

  test('tombstones go after their time, and leave a thread that began anew alone', async () => {
    const { client, step, threads } = await account()
    for (const thread of ['gone', 'anew']) {
      await step(thread, 1)
      await client.deleteThread({ body: { thread_id: thread } })
    }
    await step('anew', 1)
    const { account_id } = client
    await db.sql`update agent.threads set deleted_at = now() - interval '8 days', updated_at = now() - interval '8 days' where account_id = ${account_id}`
    expect(await sweepCheckpoints(db)).toEqual({ threads: 0, tombstones: 2 })
    expect(await threads()).toEqual(['anew'])
    const rows = await db.sql`select thread_id, deleted_through from agent.threads where account_id = ${account_id}`
    expect([...rows]).toEqual([{ thread_id: 'anew', deleted_through: null }])
  })
})
