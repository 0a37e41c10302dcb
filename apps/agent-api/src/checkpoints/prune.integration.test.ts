import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'
import { findDoomed } from './doomed.ts'
import { carryOut } from './remove-checkpoints.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { db } = app
const account = () => checkpointAccount(app)

const age = (account_id: string, thread_id: string, checkpoint_id: string, seconds: number) => db.sql`
  update agent.checkpoints set created_at = now() - make_interval(secs => ${seconds})
  where account_id = ${account_id} and thread_id = ${thread_id} and checkpoint_id = ${checkpoint_id}`
describe('prune', () => {
  test('keeps the last of each namespace, their blobs and writes; counts first when asked to', async () => {
    const { client, step, write, ids } = await account()
    for (let number = 1; number <= 5; number += 1) {
      await step('t', number)
      await write('t', `cp-${number}`, '__interrupt__')
    }
    await step('t', 1, { checkpoint_ns: 'sub' })
    const body = { thread_ids: ['t'], keep_last: 2 }
    const counts = { checkpoints: 3, blobs: 3, writes: 3, has_more: false }
    expect(await client.pruneCheckpoints({ body: { ...body, dry_run: true } })).toEqual(counts)
    expect(await ids('t')).toHaveLength(6)
    expect(await client.pruneCheckpoints({ body })).toEqual(counts)
    expect(await ids('t')).toEqual(['cp-5', 'cp-4', 'cp-1'])
    const tuple = await client.getCheckpointTuple({ body: { thread_id: 't', checkpoint_id: 'cp-4' } })
    expect(tuple).toMatchObject({ blobs: [{ blob: base64('cp-4') }], pending_writes: [{ channel: '__interrupt__' }] })
    expect(await client.pruneCheckpoints({ body })).toEqual({ checkpoints: 0, blobs: 0, writes: 0, has_more: false })
  })

  test('keeps what is young; a checkpoint stays when either rule keeps it', async () => {
    const { client, step, ids } = await account()
    for (let number = 1; number <= 4; number += 1) await step('t', number)
    for (const number of [1, 3, 4]) await age(client.account_id, 't', `cp-${number}`, 1000)
    await client.pruneCheckpoints({ body: { max_age_seconds: 100, keep_last: 1 } })
    expect(await ids('t')).toEqual(['cp-4', 'cp-2'])
    await client.pruneCheckpoints({ body: { max_age_seconds: 100 } })
    expect(await ids('t')).toEqual(['cp-2'])
  })

  test('keeps a value that a kept checkpoint carried over from a deleted one', async () => {
    const { client, step, put } = await account()
    await step('t', 1)
    await put('t', 'cp-2', { parent_checkpoint_id: 'cp-1', checkpoint: { channel_versions: { c: 'cp-1' } } })
    expect(await client.pruneCheckpoints({ body: { keep_last: 1 } })).toMatchObject({ checkpoints: 1, blobs: 0 })
    expect(await client.getCheckpointTuple({ body: { thread_id: 't' } })).toMatchObject({
      blobs: [{ blob: base64('cp-1') }],
    })
  })

  test('never breaks a delta channel: ancestors stay back to the nearest value, unlisted, and no further', async () => {
    const { client, step, write, ids, storedIds } = await account()
    const empty = (version: string) => [{ channel: 'c', version, type: 'empty' }]
    for (let number = 1; number <= 8; number += 1) {
      // Values at 1 and 3; from 4 on only writes.
      await step('t', number, number === 1 || number === 3 ? {} : { blobs: empty(`cp-${number}`) })
      await write('t', `cp-${number}`)
    }
    const history = async () =>
      (await client.getDeltaHistory({ body: { thread_id: 't', channels: ['c'] } })).channels[0]!
    const before = await history()
    expect(before.writes).toHaveLength(5)
    await client.pruneCheckpoints({ body: { keep_last: 1 } })
    expect(await storedIds('t')).toEqual(['cp-8', 'cp-7', 'cp-6', 'cp-5', 'cp-4', 'cp-3'])
    expect(await ids('t')).toEqual(['cp-8'])
    expect(await history()).toEqual(before)
    await step('t', 9)
    await client.pruneCheckpoints({ body: { keep_last: 1 } })
    expect(await storedIds('t')).toEqual(['cp-9'])
  })

  test('trusts what LangGraph counts in the metadata, and lets channels go that are merely empty', async () => {
    const { client, put, step, storedIds } = await account()
    await step('delta', 1)
    await put('delta', 'cp-2', {
      parent_checkpoint_id: 'cp-1',
      metadata: { counters_since_delta_snapshot: { c: [0, 1] } },
    })
    await step('consumed', 1)
    await put('consumed', 'cp-2', {
      parent_checkpoint_id: 'cp-1',
      checkpoint: { channel_versions: { c: '2' } },
      blobs: [{ channel: 'c', version: '2', type: 'empty' }],
    })
    await client.pruneCheckpoints({ body: { keep_last: 1 } })
    expect(await storedIds('delta')).toEqual(['cp-2', 'cp-1'])
    expect(await storedIds('consumed')).toEqual(['cp-2'])
  })

  test('refuses late what would build on a pruned checkpoint', async () => {
    const { client, step, put, write } = await account()
    for (let number = 1; number <= 3; number += 1) await step('t', number)
    await client.pruneCheckpoints({ body: { keep_last: 1 } })
    expect(await codeOf(put('t', 'fork', { parent_checkpoint_id: 'cp-1' }))).toBe('thread_deleted')
    expect(await codeOf(write('t', 'cp-1'))).toBe('thread_deleted')
    expect(await codeOf(put('t', 'cp-4', { parent_checkpoint_id: 'cp-3' }))).toBe('ok')
  })
})

describe('a transaction that is open while a thread is pruned', () => {
  test('keeps nothing of what came since it began, when it is anywhere else', async () => {
    const { client, step, ids } = await account()
    await db.sql.begin(async (open) => {
      await open`select pg_current_xact_id()`
      for (let number = 1; number <= 5; number += 1) await step('t', number)
      const counts = await client.pruneCheckpoints({ body: { keep_last: 2 } })
      expect([counts, await ids('t')]).toEqual([
        { checkpoints: 3, blobs: 3, writes: 0, has_more: false },
        ['cp-5', 'cp-4'],
      ])
    })
  })

  test.each(['before', 'after'])(
    'is noticed when it forks the thread and began %s what may go was found',
    async (began) => {
      const { client, step, ids } = await account()
      const { account_id } = client
      for (let number = 1; number <= 3; number += 1) await step('t', number)
      const removal = { account_id, thread_id: 't', isKept: db.sql`rank = 1` }
      const find = () => findDoomed(db, removal)
      const plan = await db.sql.begin(async (open) => {
        const early = began === 'after' ? await find() : null
        await open`
        insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint,
          metadata, metadata_filter, channels, versions)
        values (${account_id}, 't', '', 'fork', 'cp-1', '{}', '{}', '{}', '{c}', '{cp-1}')`
        await step('other', 1)
        return early ?? (await find())
      })
      expect(await carryOut(db, removal, plan!)).toEqual({ checkpoints: 0, blobs: 0, writes: 0, is_all: false })
      expect(await ids('t')).toEqual(['fork', 'cp-3', 'cp-2', 'cp-1'])
    },
  )
})
