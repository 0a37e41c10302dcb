import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()

type Put = Parameters<typeof client.putCheckpoint>[0]['body']

const put = (thread_id: string, checkpoint_id: string, more: Partial<Put> = {}) =>
  client.putCheckpoint({ body: { thread_id, checkpoint_id, checkpoint: { v: 1 }, ...more } })
const get = (thread_id: string, more: object = {}) => client.getCheckpointTuple({ body: { thread_id, ...more } })
const idsOf = async (thread_id: string, more: object = {}) =>
  (await client.listCheckpoints({ body: { thread_id, ...more } })).map(({ checkpoint_id }) => checkpoint_id)
const blob = (version: string, text = version, channel = 'messages') => ({
  channel,
  version,
  type: 'msgpack',
  blob: base64(text),
})
const write = (idx: number, text: string) => ({
  task_id: 'task',
  idx,
  channel: 'c',
  type: 'msgpack',
  blob: base64(text),
})
const putWrites = (thread_id: string, writes: ReturnType<typeof write>[], upsert = false) =>
  client.putCheckpointWrites({ body: { thread_id, checkpoint_id: 'cp-1', writes, upsert } })

describe('what savers of the original rely on', () => {
  test('a checkpoint is got by its id with metadata, its blob byte for byte, and no parent', async () => {
    const checkpoint = { v: 1, channel_versions: { messages: 'v1' } }
    await put('whole', 'cp-1', { checkpoint, metadata: { source: 'input', step: 0 }, blobs: [blob('v1')] })
    expect(await get('whole', { checkpoint_id: 'cp-1' })).toEqual({
      thread_id: 'whole',
      checkpoint_ns: '',
      checkpoint_id: 'cp-1',
      parent_checkpoint_id: null,
      checkpoint,
      metadata: { source: 'input', step: 0 },
      blobs: [blob('v1')],
      pending_writes: [],
    })
  })

  test('without a parent, null or empty, a checkpoint has none', async () => {
    for (const more of [{}, { parent_checkpoint_id: null }, { parent_checkpoint_id: '' }]) {
      await put('orphan', 'cp-1', more)
      expect(await get('orphan')).toMatchObject({ parent_checkpoint_id: null })
      await client.deleteThread({ body: { thread_id: 'orphan' } })
    }
  })

  test('putting the same id twice leaves the second checkpoint and metadata', async () => {
    await put('twice', 'cp-1', { checkpoint: { v: 1 }, metadata: { step: 1 } })
    await put('twice', 'cp-1', { checkpoint: { v: 2 }, metadata: { step: 2 } })
    expect(await get('twice')).toMatchObject({ checkpoint: { v: 2 }, metadata: { step: 2 } })
  })

  test('without an id, null or empty, the latest is got', async () => {
    for (const id of ['cp-1', 'cp-2', 'cp-3']) await put('latest', id)
    for (const more of [{}, { checkpoint_id: null }, { checkpoint_id: '' }])
      expect(await get('latest', more)).toMatchObject({ checkpoint_id: 'cp-3' })
  })

  test('what is unknown is null', async () => {
    await put('known', 'cp-1')
    expect([await get('unknown'), await get('known', { checkpoint_id: 'unknown' })]).toEqual([null, null])
  })

  test('of several versions of a channel the one that channel_versions names is answered', async () => {
    const checkpoint = { channel_versions: { messages: 'v2' } }
    await put('versions', 'cp-1', { checkpoint, blobs: [blob('v1'), blob('v2')] })
    expect((await get('versions'))?.blobs).toEqual([blob('v2')])
  })

  test('pending writes come in the order of idx', async () => {
    await put('writes', 'cp-1')
    await putWrites('writes', [write(1, 'b'), write(0, 'a')])
    expect((await get('writes'))?.pending_writes).toEqual([write(0, 'a'), write(1, 'b')])
  })

  test('the same write again: with upsert the new blob, without it the old', async () => {
    await put('again', 'cp-1')
    await putWrites('again', [write(0, 'old')])
    await putWrites('again', [write(0, 'ignored')])
    expect((await get('again'))?.pending_writes).toEqual([write(0, 'old')])
    await putWrites('again', [write(0, 'new')], true)
    expect((await get('again'))?.pending_writes).toEqual([write(0, 'new')])
  })

  test('a list is newest first; filter, before and limit hold', async () => {
    for (const id of ['cp-1', 'cp-2', 'cp-3'])
      await put('list', id, { metadata: { source: id === 'cp-2' ? 'loop' : 'input' } })
    expect(await idsOf('list')).toEqual(['cp-3', 'cp-2', 'cp-1'])
    expect(await idsOf('list', { filter_metadata: { source: 'loop' } })).toEqual(['cp-2'])
    expect(await idsOf('list', { filter_metadata: { source: 'nonexistent' } })).toEqual([])
    expect(await idsOf('list', { before_checkpoint_id: 'cp-3' })).toEqual(['cp-2', 'cp-1'])
    expect(await idsOf('list', { limit: 2 })).toEqual(['cp-3', 'cp-2'])
  })

  test('deleting a thread deletes its checkpoints, blobs and writes, and nobody else has them', async () => {
    const checkpoint = { channel_versions: { messages: 'v1' } }
    for (const thread of ['deleted', 'kept']) {
      await put(thread, 'cp-1', { checkpoint, blobs: [blob('v1')] })
      await putWrites(thread, [write(0, 'w')])
    }
    await client.deleteThread({ body: { thread_id: 'deleted' } })
    expect(await get('deleted')).toBeNull()
    expect(await get('kept')).toMatchObject({ blobs: [blob('v1')], pending_writes: [write(0, 'w')] })
    await put('deleted', 'cp-1', { checkpoint })
    expect(await get('deleted')).toMatchObject({ blobs: [], pending_writes: [] })
  })

  test('the same ids in two threads and two namespaces are independent', async () => {
    await put('one', 'cp-1', { checkpoint: { in: 'one' } })
    await put('one', 'cp-1', { checkpoint_ns: 'subgraph', checkpoint: { in: 'subgraph' } })
    await put('two', 'cp-1', { checkpoint: { in: 'two' } })
    const found = [await get('one'), await get('one', { checkpoint_ns: 'subgraph' }), await get('two')]
    expect(found.map((tuple) => tuple?.checkpoint)).toEqual([{ in: 'one' }, { in: 'subgraph' }, { in: 'two' }])
    for (const checkpoint_ns of ['', 'subgraph'])
      expect(await client.listCheckpoints({ body: { thread_id: 'one', checkpoint_ns } })).toMatchObject([
        { checkpoint_ns },
      ])
  })

  test('the parent is kept, and a blob that is null stays null', async () => {
    const empty = { channel: 'messages', version: 'v1', type: 'empty', blob: null }
    const checkpoint = { channel_versions: { messages: 'v1' } }
    await put('parent', 'cp-2', { parent_checkpoint_id: 'cp-1', checkpoint, blobs: [empty] })
    expect(await get('parent')).toMatchObject({ parent_checkpoint_id: 'cp-1', blobs: [empty] })
  })

  test('put, list and get-tuple answer 200, put-writes and delete-thread 204; to strangers the thread is not there', async () => {
    const stranger = await app.client()
    const place = { thread_id: 'status', checkpoint_id: 'cp-1' }
    const statusOf = async (operation: string, body: object, { headers } = client) => {
      const init = {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
      return (await app.service.fetch(new Request(`http://x/checkpoints/${operation}`, init))).status
    }
    expect([
      await statusOf('put', { ...place, checkpoint: {} }),
      await statusOf('put-writes', { ...place, writes: [] }),
      await statusOf('get-tuple', place),
      await statusOf('list', { thread_id: 'status' }),
    ]).toEqual([200, 204, 200, 200])
    expect(await stranger.getCheckpointTuple({ body: place })).toBeNull()
    expect(await stranger.listCheckpoints({ body: { thread_id: 'status' } })).toEqual([])
    await stranger.deleteThread({ body: { thread_id: 'status' } })
    expect(await codeOf(stranger.putCheckpoint({ body: { ...place, checkpoint: { of: 'stranger' } } }))).toBe('ok')
    expect(await get('status')).toMatchObject({ checkpoint: {} })
    expect(await statusOf('delete-thread', { thread_id: 'status' })).toBe(204)
  })
})
