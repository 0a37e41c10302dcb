import { agentRoutes } from '@keelson/contracts/agent'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()

let threads = 0
const newThread = () => `thread-${(threads += 1)}`
const base64 = (text: string) => Buffer.from(text).toString('base64')

type Put = Parameters<typeof client.putCheckpoint>[0]['body']

const put = (thread_id: string, checkpoint_id: string, more: Partial<Put> = {}) =>
  client.putCheckpoint({ body: { thread_id, checkpoint_id, checkpoint: { v: 4, id: checkpoint_id }, ...more } })
const get = (thread_id: string, more: object = {}) => client.getCheckpointTuple({ body: { thread_id, ...more } })
const list = (more: object) => client.listCheckpoints({ body: more })
const write = (idx: number, text: string, task_id = 'task') => ({
  task_id,
  idx,
  channel: 'c',
  type: 'json',
  blob: base64(text),
})

describe('put and get-tuple', () => {
  test('what is put comes back, with the blobs that channel_versions name', async () => {
    const thread_id = newThread()
    const checkpoint = { v: 4, id: 'cp-1', channel_versions: { messages: 'v2' } }
    const blobs = [
      { channel: 'messages', version: 'v1', type: 'json', blob: base64('old') },
      { channel: 'messages', version: 'v2', type: 'json', blob: base64('new') },
    ]
    const answer = await put(thread_id, 'cp-1', { checkpoint, metadata: { source: 'input' }, blobs })
    expect(answer).toEqual({ thread_id, checkpoint_ns: '', checkpoint_id: 'cp-1' })
    expect(await get(thread_id, { checkpoint_id: 'cp-1' })).toEqual({
      ...answer,
      parent_checkpoint_id: null,
      checkpoint,
      metadata: { source: 'input' },
      blobs: [blobs[1]],
      pending_writes: [],
    })
  })

  test('a repeated put replaces checkpoint and metadata, and keeps the first parent', async () => {
    const thread_id = newThread()
    await put(thread_id, 'cp-1', { parent_checkpoint_id: 'cp-0', metadata: { step: 1 } })
    await put(thread_id, 'cp-1', { parent_checkpoint_id: 'cp-9', metadata: { step: 2 }, checkpoint: { v: 5 } })
    expect(await get(thread_id)).toMatchObject({
      parent_checkpoint_id: 'cp-0',
      metadata: { step: 2 },
      checkpoint: { v: 5 },
    })
  })

  test('without an id the greatest counts, byte by byte; an unknown one is null', async () => {
    const thread_id = newThread()
    for (const id of ['a', 'B', 'cp-10', 'cp-9']) await put(thread_id, id)
    expect(await get(thread_id)).toMatchObject({ checkpoint_id: 'cp-9' })
    expect(await get(thread_id, { checkpoint_id: '' })).toMatchObject({ checkpoint_id: 'cp-9' })
    expect(await get(thread_id, { checkpoint_id: 'none' })).toBeNull()
    expect(await get(newThread())).toBeNull()
  })

  test('a blob that an ancestor put is found by channel and version', async () => {
    const thread_id = newThread()
    const checkpoint = { channel_versions: { a: 1, b: 2.0 } }
    await put(thread_id, 'cp-1', { checkpoint, blobs: [{ channel: 'a', version: 1, type: 'json', blob: base64('1') }] })
    await put(thread_id, 'cp-2', { checkpoint, blobs: [{ channel: 'b', version: 2, type: 'empty' }] })
    const tuple = await get(thread_id)
    expect(tuple?.blobs).toEqual([
      { channel: 'a', version: '1', type: 'json', blob: base64('1') },
      { channel: 'b', version: '2', type: 'empty', blob: null },
    ])
  })

  test('threads and namespaces are independent', async () => {
    const [one, other] = [newThread(), newThread()]
    const blob = (text: string) => [{ channel: 'c', version: 'v', type: 'json', blob: base64(text) }]
    const checkpoint = { channel_versions: { c: 'v' } }
    await put(one, 'cp', { checkpoint, blobs: blob('one') })
    await put(one, 'cp', { checkpoint_ns: 'sub', checkpoint, blobs: blob('sub') })
    await put(other, 'cp', { checkpoint, blobs: blob('other') })
    expect((await get(one))?.blobs[0]?.blob).toBe(base64('one'))
    expect((await get(one, { checkpoint_ns: 'sub' }))?.blobs[0]?.blob).toBe(base64('sub'))
    expect((await get(other))?.blobs[0]?.blob).toBe(base64('other'))
  })

  test('a blob of 5 MB, an empty one and none come back as they were put, and so do a hundred at once', async () => {
    const thread_id = newThread()
    const large = Buffer.alloc(5_000_000, 'keelson ').toString('base64')
    const many = Array.from({ length: 100 }, (_, index) => ({
      channel: `many-${index}`,
      version: 'v',
      type: 't',
      blob: base64(`${index}`),
    }))
    const blobs = [
      { channel: 'large', version: 'v', type: 'bytes', blob: large },
      { channel: 'zero', version: 'v', type: 'null', blob: '' },
      { channel: 'none', version: 'v', type: 'empty', blob: null },
      ...many,
    ]
    const channel_versions = Object.fromEntries(blobs.map(({ channel }) => [channel, 'v']))
    await put(thread_id, 'cp', { checkpoint: { channel_versions }, blobs })
    expect((await get(thread_id))?.blobs).toEqual(blobs)
  })
})

describe('put-writes', () => {
  test('writes come back by task and idx, negative ones first, and may arrive before their checkpoint', async () => {
    const thread_id = newThread()
    const writes = [write(1, 'b1', 'b'), write(-3, 'a-3', 'a'), write(0, 'a0', 'a'), write(0, 'B0', 'B')]
    await client.putCheckpointWrites({ body: { thread_id, checkpoint_id: 'cp', writes } })
    expect(await get(thread_id)).toBeNull()
    await put(thread_id, 'cp')
    const order = (await get(thread_id))?.pending_writes.map(({ task_id, idx }) => `${task_id} ${idx}`)
    expect(order).toEqual(['B 0', 'a -3', 'a 0', 'b 1'])
  })

  test('a repeated write changes nothing, with upsert it replaces; inside a request the first counts, with upsert the last', async () => {
    const thread_id = newThread()
    const putWrites = (upsert: boolean, ...texts: string[]) =>
      client.putCheckpointWrites({
        body: { thread_id, checkpoint_id: 'cp', upsert, writes: texts.map((text) => write(0, text)) },
      })
    const stored = async () =>
      (await get(thread_id))?.pending_writes.map(({ blob }) => Buffer.from(blob, 'base64').toString())
    await put(thread_id, 'cp')
    await putWrites(false, 'first', 'second')
    expect(await stored()).toEqual(['first'])
    await putWrites(false, 'third')
    expect(await stored()).toEqual(['first'])
    await putWrites(true, 'fourth', 'fifth')
    expect(await stored()).toEqual(['fifth'])
    await putWrites(true)
    expect(await stored()).toEqual(['fifth'])
  })

  test("the parent's sends come along when asked for, and only then", async () => {
    const thread_id = newThread()
    const send = (task_id: string) => ({ ...write(0, task_id, task_id), channel: '__pregel_tasks' })
    await put(thread_id, 'cp-1')
    await client.putCheckpointWrites({
      body: { thread_id, checkpoint_id: 'cp-1', writes: [send('b'), send('a'), write(0, 'x', 'c')] },
    })
    await put(thread_id, 'cp-2', { parent_checkpoint_id: 'cp-1' })
    expect(await get(thread_id)).not.toHaveProperty('parent_pending_sends')
    const tuple = await get(thread_id, { include: ['parent_pending_sends'] })
    expect(tuple?.parent_pending_sends?.map(({ task_id }) => task_id)).toEqual(['a', 'b'])
  })
})

describe('list', () => {
  test('is newest first, without blobs and writes; filter, before and limit hold', async () => {
    const thread_id = newThread()
    for (const step of [1, 2, 3]) {
      await put(thread_id, `cp-${step}`, {
        metadata: { source: step === 2 ? 'loop' : 'input', nested: { a: [1, 2], b: null } },
      })
    }
    const ids = async (more: object) => (await list({ thread_id, ...more })).map(({ checkpoint_id }) => checkpoint_id)
    expect(await ids({})).toEqual(['cp-3', 'cp-2', 'cp-1'])
    expect((await list({ thread_id }))[0]).not.toHaveProperty('blobs')
    expect(await ids({ filter_metadata: { source: 'loop' } })).toEqual(['cp-2'])
    expect(await ids({ filter_metadata: { nested: { a: [2], b: null } } })).toHaveLength(3)
    expect(await ids({ filter_metadata: { nonexistent: 1 } })).toEqual([])
    expect(await ids({ filter_metadata: {} })).toHaveLength(3)
    expect(await ids({ before_checkpoint_id: 'cp-3' })).toEqual(['cp-2', 'cp-1'])
    expect(await ids({ before_checkpoint_id: '' })).toEqual([])
    expect(await ids({ limit: 2 })).toEqual(['cp-3', 'cp-2'])
    expect(await ids({ checkpoint_id: 'cp-2' })).toEqual(['cp-2'])
  })

  test('without a thread it spans the account; a namespace may be all, the root or one', async () => {
    const other = await app.client()
    for (const thread_id of ['t-1', 't-2']) {
      for (const checkpoint_ns of ['', 'sub'])
        await other.putCheckpoint({ body: { thread_id, checkpoint_ns, checkpoint_id: 'cp', checkpoint: {} } })
    }
    const keys = async (body: object) =>
      (await other.listCheckpoints({ body })).map((item) => `${item.thread_id}/${item.checkpoint_ns}`)
    expect(await keys({})).toEqual(['t-2/sub', 't-2/', 't-1/sub', 't-1/'])
    expect(await keys({ checkpoint_ns: '' })).toEqual(['t-2/', 't-1/'])
    expect(await keys({ thread_id: 't-1' })).toEqual(['t-1/sub', 't-1/'])
    expect(await keys({ starting_after: { thread_id: 't-2', checkpoint_ns: '', checkpoint_id: 'cp' } })).toEqual([
      't-1/sub',
      't-1/',
    ])
  })

  test('includes blobs, writes and sends of every item when asked for', async () => {
    const thread_id = newThread()
    for (const id of ['cp-1', 'cp-2']) {
      const blobs = [{ channel: 'c', version: id, type: 'json', blob: base64(id) }]
      await put(thread_id, id, { checkpoint: { channel_versions: { c: id } }, blobs })
      await client.putCheckpointWrites({ body: { thread_id, checkpoint_id: id, writes: [write(0, id)] } })
    }
    const items = await list({ thread_id, include: ['blobs', 'pending_writes', 'parent_pending_sends'] })
    const told = items.map(({ blobs, pending_writes, parent_pending_sends }) => [
      blobs?.[0]?.blob,
      pending_writes?.[0]?.blob,
      parent_pending_sends,
    ])
    expect(told).toEqual([
      [base64('cp-2'), base64('cp-2'), []],
      [base64('cp-1'), base64('cp-1'), []],
    ])
  })

  test('a thread of 1,200 checkpoints is read to its end by paging', async () => {
    const thread_id = newThread()
    const { account_id } = client
    await app.db.sql`
      insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata, metadata_filter, channels, versions)
      select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), '{}', '{}', '{}', '{}', '{}' from generate_series(1, 1200) as n`
    const seen: string[] = []
    for (let page = await list({ thread_id, limit: 500 }); page.length > 0;) {
      seen.push(...page.map(({ checkpoint_id }) => checkpoint_id))
      const { thread_id, checkpoint_ns, checkpoint_id } = page.at(-1)!
      page = await list({ thread_id, limit: 500, starting_after: { thread_id, checkpoint_ns, checkpoint_id } })
    }
    expect(new Set(seen).size).toBe(1200)
    expect(seen).toEqual(seen.toSorted().toReversed())
  })
})

test('an account sees nothing of another, and what it deletes is its own', async () => {
  const thread_id = newThread()
  await put(thread_id, 'cp')
  const other = await app.client()
  expect(await other.getCheckpointTuple({ body: { thread_id } })).toBeNull()
  expect(await other.listCheckpoints({ body: {} })).toEqual([])
  await other.deleteThread({ body: { thread_id } })
  await other.putCheckpoint({ body: { thread_id, checkpoint_id: 'cp', checkpoint: { mine: true } } })
  expect(await get(thread_id)).toMatchObject({ checkpoint: { v: 4 } })
})

test('every operation refuses a request without a key', async () => {
  const anyone = { authorization: '' }
  const checkpointRoutes = agentRoutes.filter(({ path }) => path.startsWith('/checkpoints/'))
  expect(checkpointRoutes.length).toBeGreaterThanOrEqual(6)
  for (const route of checkpointRoutes)
    expect(await client.raw(route, { body: {}, headers: anyone })).toMatchObject({ status: 401 })
})
