import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

const blob = (version: string, text: string) => ({ channel: 'c', version, type: 'json', blob: base64(text) })

/** An account whose thread `t` was deleted, but for blobs of versions 1 to 5. */
const halfDeleted = async () => {
  const account = await checkpointAccount(app)
  const { client, put } = account
  await put('t', 'cp-1')
  await client.deleteThread({ body: { thread_id: 't' } })
  await app.db.sql`
    insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select ${client.account_id}, 't', '', 'c', version, 'json', 'deleted' from generate_series(1, 5) as version`
  const step = (id: string, version: string, text: string, more: object = {}) =>
    codeOf(put('t', id, { checkpoint: { channel_versions: { c: version } }, blobs: [blob(version, text)], ...more }))
  const values = async () => {
    const tuples = await client.listCheckpoints({ body: { thread_id: 't', include: ['blobs'] } })
    return tuples.map(({ blobs }) => blobs?.map(({ blob }) => Buffer.from(blob ?? '', 'base64').toString()))
  }
  return { ...account, step, values }
}

describe('a new run while the thread it begins anew is being deleted', () => {
  test.each([4, 40_000])('writes versions anew that the deletion has not come to: %i bytes', async (bytes) => {
    const { step, values } = await halfDeleted()
    const [first, second] = ['1', '2'].map((text) => text.repeat(bytes))
    const at = { parent_checkpoint_id: 'cp-1', expected_head_checkpoint_id: 'cp-1' }
    expect([await step('cp-1', '1', first!), await step('cp-2', '2', second!, at)]).toEqual(['ok', 'ok'])
    expect(await values()).toEqual([[second], [first]])
  })

  test('writes them anew in company too', async () => {
    const accounts = await Promise.all(Array.from({ length: 12 }, halfDeleted))
    const outcomes = await Promise.all(accounts.map(({ step }) => step('cp-1', '1', 'new')))
    expect(outcomes).toEqual(Array(12).fill('ok'))
    for (const { values } of accounts) expect(await values()).toEqual([['new']])
  })

  test('is refused a version that a checkpoint of its own names, in whatever place', async () => {
    const { step, put, values } = await halfDeleted()
    await step('cp-1', '1', 'new')
    const two = { channel_versions: { a: '9', c: '2' } }
    await put('t', 'cp-2', { checkpoint: two, parent_checkpoint_id: 'cp-1', blobs: [blob('2', 'newer')] })
    for (const version of ['1', '2']) expect(await step('cp-3', version, 'other')).toBe('version_conflict')
    expect(await values()).toEqual([['newer'], ['new']])
  })

  test('leaves one winner when many write the same version at once', async () => {
    const { step, values } = await halfDeleted()
    const texts = Array.from({ length: 8 }, (_, index) => `${index}`)
    const outcomes = await Promise.all(texts.map((text) => step(`cp-${text}`, '1', text.repeat(40_000))))
    expect(outcomes.toSorted()).toEqual(['ok', ...Array(7).fill('version_conflict')])
    expect(await values()).toEqual([[texts[outcomes.indexOf('ok')]!.repeat(40_000)]])
  })
})

test('a thread that was never deleted keeps versions that no checkpoint names', async () => {
  const { put } = await checkpointAccount(app)
  await put('t', 'cp-1', { blobs: [blob('1', 'first')] })
  expect(await codeOf(put('t', 'cp-2', { blobs: [blob('1', 'other')] }))).toBe('version_conflict')
})

test('a copy over what is being deleted has nothing of the deleted life', async () => {
  const { client, put } = await checkpointAccount(app)
  await put('source', 'cp-1')
  await client.copyThread({ body: { source_thread_id: 'source', target_thread_id: 'target' } })
  const writes = Array.from({ length: 3000 }, (_, idx) => ({
    task_id: 'old',
    idx,
    channel: 'c',
    type: 'json',
    blob: base64('old'),
  }))
  await client.putCheckpointWrites({ body: { thread_id: 'target', checkpoint_id: 'cp-1', writes } })
  // The first part of a deletion, whose service ended then.
  await app.db.sql`select agent.delete_thread(${client.account_id}, 'target', 1000, 2097152, null)`
  await client.copyThread({ body: { source_thread_id: 'source', target_thread_id: 'target' } })
  const copy = await client.getCheckpointTuple({ body: { thread_id: 'target' } })
  expect(copy).toMatchObject({ checkpoint_id: 'cp-1', pending_writes: [] })
})
