import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()

const blob = (text: string, version = 'v', channel = 'c') => ({ channel, version, type: 'json', blob: base64(text) })

type Put = Parameters<typeof client.putCheckpoint>[0]['body']

const put = (thread_id: string, checkpoint_id: string, more: Partial<Put> = {}) =>
  client.putCheckpoint({ body: { thread_id, checkpoint_id, checkpoint: { channel_versions: { c: 'v' } }, ...more } })
const putWrites = (thread_id: string, checkpoint_id: string, task_id = 'task') =>
  client.putCheckpointWrites({
    body: {
      thread_id,
      checkpoint_id,
      writes: [{ task_id, idx: 0, channel: 'c', type: 'json', blob: base64(task_id) }],
    },
  })
const get = (thread_id: string, more: object = {}) => client.getCheckpointTuple({ body: { thread_id, ...more } })

describe('a channel version', () => {
  test('is written once: the same content is a repetition, other content is a conflict that puts nothing', async () => {
    await put('once', 'cp-1', { blobs: [blob('a')] })
    await put('once', 'cp-1', { blobs: [blob('a')] })
    expect(await codeOf(put('once', 'cp-2', { blobs: [blob('new', 'w'), blob('b')] }))).toBe('version_conflict')
    expect(await codeOf(put('once', 'cp-2', { blobs: [{ ...blob('a'), type: 'bytes' }] }))).toBe('version_conflict')
    expect(await codeOf(put('once', 'cp-2', { blobs: [{ ...blob('a'), blob: null }] }))).toBe('version_conflict')
    expect(await get('once')).toMatchObject({ checkpoint_id: 'cp-1', blobs: [blob('a')] })
  })

  test('may be given twice in a put, but not with different contents', async () => {
    await put('twice', 'cp-1', { blobs: [blob('a'), blob('a')] })
    expect(await codeOf(put('twice', 'cp-2', { blobs: [blob('b', 'w'), blob('c', 'w')] }))).toBe('version_conflict')
    expect(await get('twice')).toMatchObject({ checkpoint_id: 'cp-1', blobs: [blob('a')] })
  })

  test('has one winner when many put different contents at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => codeOf(put('race', `cp-${index}`, { blobs: [blob(`${index}`)] }))),
    )
    expect(outcomes.toSorted()).toEqual(['ok', ...Array(11).fill('version_conflict')])
    const winner = outcomes.indexOf('ok')
    expect(await get('race')).toMatchObject({ checkpoint_id: `cp-${winner}`, blobs: [blob(`${winner}`)] })
  })
})

test('16 tasks that write to one checkpoint at once, while it is put, lose nothing', async () => {
  const tasks = Array.from({ length: 16 }, (_, index) => `task-${String(index).padStart(2, '0')}`)
  await Promise.all([
    ...tasks.map((task) => putWrites('tasks', 'cp', task)),
    put('tasks', 'cp', { blobs: [blob('a')] }),
  ])
  const tuple = await get('tasks')
  expect(tuple?.pending_writes.map(({ task_id, blob }) => [task_id, blob])).toEqual(
    tasks.map((task) => [task, base64(task)]),
  )
})

describe('an expected head', () => {
  test('lets the put through only while it is the latest; empty means none; a repetition is fine', async () => {
    const at = (expected_head_checkpoint_id: string) => ({ expected_head_checkpoint_id })
    expect(await codeOf(put('head', 'cp-1', at('cp-0')))).toBe('head_moved')
    expect(await get('head')).toBeNull()
    expect(await codeOf(put('head', 'cp-1', at('')))).toBe('ok')
    expect(await codeOf(put('head', 'cp-2', at('')))).toBe('head_moved')
    expect(await codeOf(put('head', 'cp-2', at('cp-1')))).toBe('ok')
    expect(await codeOf(put('head', 'cp-2', at('cp-1')))).toBe('ok')
    expect(await codeOf(put('head', 'cp-3', at('cp-1')))).toBe('head_moved')
    expect(await codeOf(put('head', 'sub-1', { ...at(''), checkpoint_ns: 'sub' }))).toBe('ok')
  })

  test('refuses what would sort before it, which would leave the head to a second writer', async () => {
    await put('order', 'cp-5')
    const at = { expected_head_checkpoint_id: 'cp-5' }
    // Byte by byte: capitals come first.
    for (const id of ['cp-3', 'CP-6']) expect(await codeOf(put('order', id, at))).toBe('head_moved')
    for (let time = 0; time < 2; time += 1) expect(await codeOf(put('order', 'cp-6', at))).toBe('ok')
    expect(await client.listCheckpoints({ body: { thread_id: 'order' } })).toHaveLength(2)
  })

  test('has one winner, which is the next head, though clocks of writers are behind', async () => {
    for (let round = 0; round < 5; round += 1) {
      const thread = `clocks-${round}`
      await put(thread, 'cp-5')
      const ids = Array.from({ length: 8 }, (_, index) => `cp-${index % 2 === 0 ? 3 : 6}-${index}`)
      const outcomes = await Promise.all(
        ids.map((id) => codeOf(put(thread, id, { parent_checkpoint_id: 'cp-5', expected_head_checkpoint_id: 'cp-5' }))),
      )
      expect(outcomes.filter((code) => code === 'ok')).toHaveLength(1)
      expect(await get(thread)).toMatchObject({ checkpoint_id: ids[outcomes.indexOf('ok')] })
    }
  })

  test('has one winner among many writers, plain puts included', async () => {
    await put('writers', 'cp-0')
    for (let round = 0; round < 5; round += 1) {
      const head = (await get('writers'))?.checkpoint_id as string
      const writers = Array.from({ length: 8 }, (_, index) =>
        codeOf(put('writers', `cp-${round + 1}-${index}`, { expected_head_checkpoint_id: head })),
      )
      const outcomes = await Promise.all(writers)
      expect(outcomes.filter((code) => code === 'ok')).toHaveLength(1)
    }
  })
})

describe('a deleted thread', () => {
  test('is gone in every namespace, alone, and deleting it again is fine', async () => {
    for (const checkpoint_ns of ['', 'sub']) await put('gone', 'cp', { checkpoint_ns, blobs: [blob('a')] })
    await put('stays', 'cp', { blobs: [blob('a')] })
    await putWrites('gone', 'cp')
    await client.deleteThread({ body: { thread_id: 'gone' } })
    await client.deleteThread({ body: { thread_id: 'gone' } })
    expect(await client.listCheckpoints({ body: { thread_id: 'gone' } })).toEqual([])
    const rows = await app.db.sql`
      select from agent.checkpoint_blobs where account_id = ${client.account_id} and thread_id = 'gone'
      union all select from agent.checkpoint_writes where account_id = ${client.account_id} and thread_id = 'gone'`
    expect(rows).toHaveLength(0)
    expect(await get('stays')).toMatchObject({ blobs: [blob('a')] })
  })

  test('does not come back by what was on its way, and begins anew with a put without parent', async () => {
    await put('late', 'cp-1')
    await put('late', 'cp-2', { parent_checkpoint_id: 'cp-1' })
    await client.deleteThread({ body: { thread_id: 'late' } })
    expect(await codeOf(put('late', 'cp-3', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
    expect(await codeOf(putWrites('late', 'cp-2'))).toBe('thread_deleted')
    expect(await get('late')).toBeNull()
    await put('late', 'cp-1', { blobs: [blob('anew')] })
    await putWrites('late', 'cp-1')
    await put('late', 'cp-2', { parent_checkpoint_id: 'cp-1' })
    expect(await get('late')).toMatchObject({ checkpoint_id: 'cp-2', blobs: [blob('anew')] })
  })

  test('stays deleted whatever puts run into the deletion', async () => {
    for (let round = 0; round < 20; round += 1) {
      const thread = `hit-${round}`
      await put(thread, 'cp-1', { blobs: [blob('a')] })
      const [, ...outcomes] = await Promise.all([
        client.deleteThread({ body: { thread_id: thread } }),
        codeOf(put(thread, 'cp-2', { parent_checkpoint_id: 'cp-1' })),
        codeOf(putWrites(thread, 'cp-1')),
      ])
      expect([await get(thread), outcomes.length]).toEqual([null, 2])
      const writes = await app.db
        .sql`select from agent.checkpoint_writes where account_id = ${client.account_id} and thread_id = ${thread}`
      expect(writes).toHaveLength(0)
    }
  })
})

describe('delta history', () => {
  test('is the writes since the last value, oldest step first, by task and idx, without the own ones', async () => {
    const step = (id: string, parent?: string, more: Partial<Put> = {}) =>
      put('delta', id, { checkpoint: {}, ...(parent && { parent_checkpoint_id: parent }), ...more })
    await step('cp-0', undefined, { checkpoint: { channel_versions: { c: '0' } }, blobs: [blob('too old', '0')] })
    await step('cp-1', 'cp-0', { checkpoint: { channel_versions: { c: '1' } }, blobs: [blob('seed', '1')] })
    await step('cp-2', 'cp-1', {
      checkpoint: { channel_versions: { c: '2' } },
      blobs: [{ channel: 'c', version: '2', type: 'empty' }],
    })
    await step('cp-2b', 'cp-1')
    await step('cp-3', 'cp-2')
    for (const [id, task] of [
      ['cp-0', 'x'],
      ['cp-1', 'b'],
      ['cp-1', 'a'],
      ['cp-2', 'z'],
      ['cp-2b', 'sibling'],
      ['cp-3', 'own'],
    ] as const)
      await putWrites('delta', id, task)
    const { channels } = await client.getDeltaHistory({ body: { thread_id: 'delta', channels: ['c', 'unknown'] } })
    expect(channels.map(({ channel, writes }) => [channel, writes.map(({ task_id }) => task_id)])).toEqual([
      ['c', ['a', 'b', 'z']],
      ['unknown', []],
    ])
    expect(channels.map(({ seed }) => seed)).toEqual([{ checkpoint_id: 'cp-1', ...blob('seed', '1') }, null])
    const fork = await client.getDeltaHistory({ body: { thread_id: 'delta', checkpoint_id: 'cp-2b', channels: ['c'] } })
    expect(fork.channels[0]?.writes.map(({ task_id }) => task_id)).toEqual(['a', 'b'])
    const none = await client.getDeltaHistory({ body: { thread_id: 'nowhere', channels: ['c'] } })
    expect(none.channels).toEqual([{ channel: 'c', writes: [], seed: null }])
  })

  test('ends on a chain of parents that closes a circle', async () => {
    await put('circle', 'cp-1', { parent_checkpoint_id: 'cp-2' })
    await put('circle', 'cp-2', { parent_checkpoint_id: 'cp-1' })
    await putWrites('circle', 'cp-1', 'a')
    const { channels } = await client.getDeltaHistory({ body: { thread_id: 'circle', channels: ['c'] } })
    expect(channels[0]?.writes.map(({ task_id }) => task_id)).toEqual(['a'])
  })
})
